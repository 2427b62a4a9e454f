// SPDX-License-Identifier: Apache-2.0
// Reads event files of TensorBoard with readers of others: tfrecord-stream checks the records and
// their checksums, protobufjs decodes them by TensorFlow's definitions (event.proto, summary.proto,
// histogram.proto, and hparams.proto of TensorBoard).
// node read_events.js probe        ends with 0 when the packages are there (NODE_PATH)
// node read_events.js FILE...      a list of events as JSON
'use strict';
const fs = require('fs');
const zlib = require('zlib');
const protobuf = require('protobufjs');
const { RecordReader } = require('tfrecord-stream/lib/record_reader');

const { root } = protobuf.parse(`
syntax = "proto3";
message SessionLog { int32 status = 1; string checkpoint_path = 2; string msg = 3; }
message HistogramProto {
  double min = 1; double max = 2; double num = 3; double sum = 4; double sum_squares = 5;
  repeated double bucket_limit = 6 [packed = true]; repeated double bucket = 7 [packed = true];
}
message PluginData { string plugin_name = 1; bytes content = 2; }
message SummaryMetadata { PluginData plugin_data = 1; }
message Image { int32 height = 1; int32 width = 2; int32 colorspace = 3; bytes encoded_image_string = 4; }
message TensorShapeProto {}
message TensorProto { int32 dtype = 1; TensorShapeProto tensor_shape = 2; repeated bytes string_val = 8; }
message Value {
  string tag = 1; float simple_value = 2; Image image = 4; HistogramProto histo = 5; string node_name = 7;
  TensorProto tensor = 8; SummaryMetadata metadata = 9;
}
message Summary { repeated Value value = 1; }
message Event {
  double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5;
  SessionLog session_log = 7;
}
message HParam { oneof kind { double number_value = 2; string string_value = 3; bool bool_value = 4; } }
message SessionStartInfo { map<string, HParam> hparams = 1; string model_uri = 2; double start_time_secs = 5; }
message HParamsPluginData { int32 version = 1; SessionStartInfo session_start_info = 3; }
`, { keepCase: true });
const Event = root.lookupType('Event');
const HParams = root.lookupType('HParamsPluginData');

// How many bytes of pixels a PNG file of one IDAT chunk has.
function pixels(png) {
  const start = png.indexOf('IDAT') + 4;
  return zlib.inflateSync(png.subarray(start, start + png.readUInt32BE(start - 8))).length;
}

async function read(file) {
  const reader = await RecordReader.createFromStream(fs.createReadStream(file));
  const events = [];
  for (let bytes = await reader.readRecord(); bytes !== null; bytes = await reader.readRecord()) {
    const event = Event.toObject(Event.decode(bytes), { longs: Number });
    for (const value of (event.summary || { value: [] }).value) {
      if (value.image) value.image.pixels = pixels(Buffer.from(value.image.encoded_image_string));
      if (!value.metadata) continue;
      value.plugin = value.metadata.plugin_data.plugin_name;
      if (value.plugin === 'text') value.text = Buffer.from(value.tensor.string_val[0]).toString();
      if (value.plugin !== 'hparams') continue;
      const content = HParams.decode(value.metadata.plugin_data.content);
      value.hparams = HParams.toObject(content).session_start_info.hparams;
    }
    events.push(event);
  }
  return events;
}

(async () => {
  if (process.argv[2] === 'probe') return;
  const events = [];
  for (const file of process.argv.slice(2)) events.push(...await read(file));
  console.log(JSON.stringify(events));
})().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
