// SPDX-License-Identifier: Apache-2.0
// Runs ONNX files as another program would, with ONNX Runtime.
// node run_onnx.js probe        ends with 0 when ONNX Runtime is there (NODE_PATH)
// node run_onnx.js library      prints the path of its library
// node run_onnx.js JOBS.json    [{"model": FILE, "inputs": {NAME: {"type", "dims", "data"}}}, ...];
//                               null stands for NaN; prints [{NAME: {"dims", "data"}}, ...]
'use strict';
const fs = require('fs');
const path = require('path');
const ort = require('onnxruntime-node');

function tensor({ type, dims, data }) {
  if (type === 'string') return new ort.Tensor(type, data, dims);
  const numbers = type === 'float64' ? Float64Array : Float32Array;
  return new ort.Tensor(type, numbers.from(data, (x) => (x === null ? NaN : x)), dims);
}

async function run(job) {
  const session = await ort.InferenceSession.create(job.model);
  const inputs = {};
  for (const [name, value] of Object.entries(job.inputs)) inputs[name] = tensor(value);
  if (session.inputNames.join() !== Object.keys(inputs).join()) {
    throw new Error(`${job.model}: the inputs are ${session.inputNames}`);
  }
  const outputs = {};
  for (const [name, { dims, data }] of Object.entries(await session.run(inputs))) {
    outputs[name] = { dims, data: Array.from(data) };
  }
  return outputs;
}

function library() {
  const bin = path.join(path.dirname(require.resolve('onnxruntime-node/package.json')), 'bin');
  const folder = path.join(bin, fs.readdirSync(bin)[0], process.platform, process.arch);
  return path.join(folder, fs.readdirSync(folder).find((name) => name.startsWith('libonnxruntime.')));
}

async function main(word) {
  if (word === 'probe') return;
  if (word === 'library') {
    process.stdout.write(library());
    return;
  }
  const results = [];
  for (const job of JSON.parse(fs.readFileSync(word, 'utf8'))) results.push(await run(job));
  console.log(JSON.stringify(results));
}

main(process.argv[2]).catch((error) => {
  console.error(error);
  process.exit(1);
});
