// Computes what apply::Predictor and explain::explain_row() compute, from the JSON of an exported
// page (model_page.cpp). Sums are in double. A layer returns its output and remembers, in `tape`,
// how the gradient of its output becomes that of its input.
function makeModel(data) {
  const EPSILON = 1e-5;
  const { fround } = Math;
  const floats = (text) => new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  const plus = (x, y) => x.map((value, i) => value + y[i]);
  const times = (x, y) => x.map((value, i) => value * y[i]);
  const clamp = (x, low, high) => (x < low ? low : x > high ? high : x);  // NaN stays

  // With only positive terms no digits cancel.
  function erf(x) {
    if (Math.abs(x) > 6) return Math.sign(x);
    let [term, total] = [x, x];
    for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(total); n++) total += term *= (2 * x * x) / (2 * n + 1);
    return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * total;
  }
  const sigmoid = (x) => 1 / (1 + Math.exp(-x));
  const [SELU, ALPHA] = [1.0507009873554805, 1.6732632423543772];
  // The value and the slope of each activation function.
  const activations = {
    relu: (x) => [x < 0 ? 0 : x, x > 0 ? 1 : 0],
    gelu: (x) => {
      const share = 0.5 * (1 + erf(x * Math.SQRT1_2));
      return [x * share, share + (x * Math.exp(-0.5 * x * x)) / Math.sqrt(2 * Math.PI)];
    },
    silu: (x) => [x * sigmoid(x), sigmoid(x) * (1 + x * sigmoid(-x))],
    tanh: (x) => [Math.tanh(x), 1 - Math.tanh(x) ** 2],
    selu: (x) => (x > 0 ? [SELU * x, SELU] : [SELU * ALPHA * Math.expm1(x), SELU * ALPHA * Math.exp(x)]),
    mish: (x) => {
      const part = Math.tanh(x > 30 ? x : Math.log1p(Math.exp(x)));
      return [x * part, part + x * sigmoid(x) * (1 - part * part)];
    },
  };

  function logSum(values) {
    const largest = Math.max(...values);
    return Number.isFinite(largest) ? largest + Math.log(sum(values.map((v) => Math.exp(v - largest)))) : largest;
  }
  // The weighted mean of outputs, as numbers or as logarithms of probabilities, and its gradient.
  function mean(rows, weights, isOfNumbers) {
    if (isOfNumbers) {
      const scaled = rows.map((row, m) => row.map((value) => weights[m] * value));
      return [scaled.reduce(plus), (g) => weights.map((w) => g.map((value) => w * value))];
    }
    const isSingle = rows[0].length === 1;  // the logit of the second of two classes
    const logs = rows.map((row) => {
      const all = isSingle ? [0, row[0]] : [...row];
      const total = logSum(all);
      return all.map((value) => value - total);
    });
    const shares = weights.map(Math.log);
    const y = logs[0].map((_, i) => logSum(logs.map((log, m) => shares[m] + log[i])));
    const back = (g) => logs.map((log, m) => {
      const parts = (isSingle ? [-g[0], g[0]] : g).map((value, i) => value * Math.exp(shares[m] + log[i] - y[i]));
      const total = sum(parts);
      return parts.map((part, i) => part - Math.exp(log[i]) * total).slice(isSingle ? 1 : 0);
    });
    return [isSingle ? [y[1] - y[0]] : y, back];
  }
  const equal = (count) => Array(count).fill(1 / count);

  // A layer that treats the rows of all members by themselves: pass(x, member) returns y and the
  // function from the gradient of y to that of x.
  const each = (pass) => (rows, tape) => {
    const results = rows.map(pass);
    tape.push((gradients) => gradients.map((g, m) => results[m][1](g)));
    return results.map((result) => result[0]);
  };
  const layers = {
    linear({ weight, bias, members }) {
      const outputs = bias.length / members;
      const inputs = weight.length / bias.length;
      return each((x, member) => {
        const first = members === 1 ? 0 : member * outputs;
        const y = Float64Array.from(bias.subarray(first, first + outputs));
        for (let o = 0, w = first * inputs; o < outputs; o++) {
          let total = y[o];
          for (let i = 0; i < inputs; i++) total += weight[w++] * x[i];
          y[o] = total;
        }
        return [y, (g) => {
          const result = new Float64Array(inputs);
          for (let o = 0, w = first * inputs; o < outputs; o++) {
            const slope = g[o];
            for (let i = 0; i < inputs; i++) result[i] += weight[w++] * slope;
          }
          return result;
        }];
      });
    },
    batch_norm({ weight, bias, running_mean, running_var }) {
      const factor = Float64Array.from(weight, (w, i) => w / Math.sqrt(running_var[i] + EPSILON));
      return each((x) => [x.map((v, i) => (v - running_mean[i]) * factor[i] + bias[i]), (g) => times(g, factor)]);
    },
    layer_norm({ weight, bias }) {
      return each((x) => {
        const center = sum(x) / x.length;
        const factor = 1 / Math.sqrt(sum(x.map((v) => (v - center) ** 2)) / x.length + EPSILON);
        const normal = x.map((v) => (v - center) * factor);
        return [normal.map((v, i) => v * weight[i] + bias[i]), (g) => {
          const own = times(g, weight);
          const along = sum(times(own, normal)) / x.length;
          const level = sum(own) / x.length;
          return own.map((v, i) => factor * (v - level - normal[i] * along));
        }];
      });
    },
    activation({ name, weight }) {
      const share = (i) => (weight ? weight[i] : 1);
      return each((x) => {
        const pairs = Array.from(x, activations[name]);
        return [x.map((v, i) => v + (pairs[i][0] - v) * share(i)),
          (g) => g.map((v, i) => v * (1 + (pairs[i][1] - 1) * share(i)))];
      });
    },
    input_scale({ weight, members }) {
      return ([x], tape) => {
        const of = (m) => weight.subarray(m * x.length, (m + 1) * x.length);
        tape.push((gradients) => [gradients.map((g, m) => times(g, of(m))).reduce(plus)]);
        return Array.from({ length: members }, (_, m) => times(x, of(m)));
      };
    },
    residual_begin: () => (rows, tape, state) => {
      state.kept.push(rows);
      tape.push((gradients) => gradients.map((g, m) => plus(g, state.gradient[m])));
      return rows;
    },
    residual_end: () => (rows, tape, state) => {
      const begin = state.kept.pop();
      tape.push((gradients) => (state.gradient = gradients));
      return rows.map((row, m) => plus(row, begin[m]));
    },
    member_mean({ scale, is_of_numbers }) {
      const factor = scale ? scale[0] : 1;
      return (rows, tape) => {
        const [y, back] = mean(rows, equal(rows.length), is_of_numbers);
        tape.push(([g]) => back(g.map((value) => value * factor)));
        return [y.map((value) => value * factor)];
      };
    },
  };
  // Turn features into inputs of the first layer; each input has the feature that it comes from.
  const embed = (numbers, bias, size, add) => numbers.flatMap((number, n) => {
    const y = Array.from(bias.subarray(n * size, (n + 1) * size));
    const addRow = (factor, weight, row) => y.forEach((_, c) => (y[c] += factor * weight[row * size + c]));
    add(number, n, addRow);
    return y;
  });
  const appended = (features, bias, add) => (x, of) => {
    const size = bias.length / features.length;
    return [x.concat(embed(features.map((feature) => x[feature]), bias, size, add)),
      of.concat(features.flatMap((feature) => Array(size).fill(feature)))];
  };
  const encoders = {
    embeddings: ({ num_numeric, rows, sizes, weight }) => (x, of) => {
      let begin = 0;
      const [values, origin] = [x.slice(0, num_numeric), of.slice(0, num_numeric)];
      sizes.forEach((size, i) => {
        const from = begin + x[num_numeric + i] * size;
        values.push(...weight.subarray(from, from + size));
        origin.push(...Array(size).fill(num_numeric + i));
        begin += rows[i] * size;
      });
      return [values, origin];
    },
    periodic: ({ features, frequencies, phases, weight, bias }) => appended(features, bias, (x, n, addRow) => {
      const count = frequencies.length / features.length;
      for (let k = n * count; k < (n + 1) * count; k++) {
        addRow(Math.cos(x * fround(frequencies[k] * fround(2 * Math.PI)) + phases[k]), weight, k);
      }
    }),
    piecewise: ({ features, edges, slope, weight, bias }) => appended(features, bias, (x, n, addRow) => {
      const count = edges.length / features.length - 1;
      addRow(x, slope, n);
      for (let t = 0, edge = n * (count + 1); t < count && edges[edge + 1] > edges[edge]; t++, edge++) {
        const isLast = t + 1 === count || !(edges[edge + 2] > edges[edge + 1]);
        const part = (x - edges[edge]) / (edges[edge + 1] - edges[edge]);
        addRow(clamp(part, t === 0 ? -Infinity : 0, isLast ? Infinity : 1), weight, n * count + t);
      }
    }),
  };

  const unpacked = (layer) => Object.fromEntries(Object.entries(layer).map(([key, value]) =>
    [key, layer.packed.includes(key) ? floats(value) : value]));
  const members = data.members.map((list) => ({
    encoders: list.filter((layer) => layer.kind in encoders).map((layer) => encoders[layer.kind](unpacked(layer))),
    layers: list.filter((layer) => layer.kind in layers).map((layer) => layers[layer.kind](unpacked(layer))),
  }));
  const memberWeights = data.weights || equal(members.length);
  const isRegression = data.task === "regression";
  const numWeights = sum(data.members.flat().flatMap((layer) => layer.packed.map((key) => layer[key].length / 5)));  // base64
  for (const part of data.fields.flatMap((field) => field.parts)) {
    if (part.quantiles) part.quantiles = floats(part.quantiles);
  }

  const [shift, scale] = [floats(data.scaling.shift), floats(data.scaling.scale)];
  const inverseLimit = data.scaling.inverse_limit ? floats(data.scaling.inverse_limit) : null;
  function encode(member, features) {
    let x = Array.from(features, (value, i) => {
      const z = fround(fround(value - shift[i]) * scale[i]);
      return inverseLimit ? z / Math.sqrt(1 + (z * inverseLimit[i]) ** 2) : z;
    });
    let of = x.map((_, i) => i);
    for (const encoder of member.encoders) [x, of] = encoder(x, of);
    return [x, of];
  }
  function run(member, inputs) {
    const tape = [];
    const state = { kept: [], gradient: null };
    let rows = [Float64Array.from(inputs)];
    for (const layer of member.layers) rows = layer(rows, tape, state);
    return [rows[0], (gradient) => tape.reduceRight((g, back) => back(g), [gradient])[0]];
  }
  // The outputs of all members together, and their gradients; limited as predictions are.
  function combined(inputs, isLimited) {
    const results = members.map((member, m) => run(member, inputs[m]));
    const outputs = results.map(([y]) => (isLimited && data.low ? y.map((v, i) => clamp(v, data.low[i], data.high[i])) : y));
    if (members.length === 1) return [outputs[0], (g) => [results[0][1](g)]];
    const [y, back] = mean(outputs, memberWeights, isRegression);
    return [y, (g) => back(g).map((own, m) => results[m][1](own))];
  }

  function quantile(x, quantiles, scores) {
    const last = quantiles.length - 1;
    if (quantiles[0] === quantiles[last]) return 0;
    const at = quantiles.findIndex((value) => value >= x);
    if (at < 0) return scores[2 * last];
    const next = quantiles.findIndex((value) => value > x);
    const equalOnes = (next < 0 ? last + 1 : next) - at;
    if (equalOnes > 0) return scores[2 * at + equalOnes - 1];
    if (at === 0) return scores[0];
    const part = (x - quantiles[at - 1]) / (quantiles[at] - quantiles[at - 1]);
    return scores[2 * at - 2] + part * (scores[2 * at] - scores[2 * at - 2]);
  }
  const parts = {
    seconds: (seconds) => seconds,
    hour: (seconds) => new Date(1000 * seconds).getUTCHours(),
    day_of_week: (seconds) => new Date(1000 * seconds).getUTCDay() || 7,
    month: (seconds) => new Date(1000 * seconds).getUTCMonth() + 1,
    year: (seconds) => new Date(1000 * seconds).getUTCFullYear(),
  };
  function setNumber(part, cell, x) {
    const number = part.date_part ? parts[part.date_part](cell) : data.missing.includes(cell) ? NaN : cell;
    let value = fround(number - part.offset);
    if (part.missing_indicator) x[part.first + 1] = Number.isNaN(value) ? 1 : 0;
    if (part.limits) value = clamp(value, ...part.limits);
    if (Number.isNaN(value)) value = part.fill ?? NaN;
    x[part.first] = part.quantiles ? quantile(value, part.quantiles, data.scores[part.scores]) : value;
  }
  function setCategory(part, cell, x) {
    const count = part.categories.length;
    const k = cell ?? (part.missing_indicator ? count : -1);
    if (part.is_embedded) x[part.first] = k < 0 ? count : k;
    else if (part.is_sign) x[part.first] = k === 0 ? -1 : k === 1 ? 1 : 0;
    else if (k >= 0) x[part.first + k] = 1;
  }
  // Cells are numbers (NaN: missing; dates are seconds since 1970), or indices of categories (null:
  // missing, -1: unknown), one for each field.
  function features(cells) {
    const x = new Float32Array(shift.length);
    data.fields.forEach((field, i) => field.parts.forEach((part) => (part.categories ? setCategory : setNumber)(part, cells[i], x)));
    return x;
  }

  function valuesOf(scores) {
    if (!isRegression) {
      if (scores.length === 1) return [1 / (1 + Math.exp(scores[0])), 1 / (1 + Math.exp(-scores[0]))];
      const total = logSum([...scores]);
      return Array.from(scores, (score) => Math.exp(score - total));
    }
    return Array.from(scores, (score, i) => fround(score / data.target_scale[i] + data.target_shift[i]) + data.target_offset[i]);
  }
  // Probabilities of the classes and which is predicted, or values; with an interval or a set.
  function predict(cells) {
    const x = features(cells);
    const values = valuesOf(combined(members.map((member) => encode(member, x)[0]), true)[0]);
    if (isRegression) {
      return { values, interval: data.interval && values.map((v, i) => [v - data.interval.bounds[i], v + data.interval.bounds[i]]) };
    }
    const label = values.length === 2 ? Number(values[1] > data.threshold) : values.indexOf(Math.max(...values));
    const lowest = data.interval && Math.min(data.interval.bounds[0], values[label]);
    return { values, label, set: data.interval && values.flatMap((p, i) => (p >= lowest ? [i] : [])) };
  }

  // The nodes and weights of the Gauss-Legendre rule over [0, 1].
  const rules = {};
  function rule(count) {
    return rules[count] ??= Array.from({ length: count }, (_, i) => {
      let x = Math.cos((Math.PI * (i + 0.75)) / (count + 0.5));
      let slope = 0;
      for (let change = 1; Math.abs(change) > 1e-15;) {
        let [value, before] = [1, 0];
        for (let k = 1; k <= count; k++) [value, before] = [((2 * k - 1) * x * value - (k - 1) * before) / k, value];
        slope = (count * (x * value - before)) / (x * x - 1);
        change = value / slope;
        x -= change;
      }
      return { node: (1 - x) / 2, weight: 1 / ((1 - x * x) * slope * slope) };
    });
  }
  // What is explained: the logit of the probability of a class, or a target in its units.
  function interest(index) {
    if (isRegression) {
      return { factor: 1 / data.target_scale[index], shift: data.target_shift[index] + data.target_offset[index],
        value: (y) => y[index], gradient: (y) => Array.from(y, (_, i) => Number(i === index)) };
    }
    const others = (y) => logSum(Array.from(y).filter((_, i) => i !== index));
    return { factor: data.num_outputs === 1 && index === 0 ? -1 : 1, shift: 0,
      value: (y) => (y.length === 1 ? y[0] : y[index] - others(y)),
      gradient: (y) => Array.from(y, (v, i) => (i === index || y.length === 1 ? 1 : -Math.exp(v - others(y)))) };
  }
  // Integrated gradients of a class or target, by field: explain::explain_row() says more.
  function explain(cells, index) {
    const of = interest(index);
    const [baseline, row] = [floats(data.baseline), features(cells)];
    const paths = members.map((member) => {
      const [to, origin] = encode(member, row);
      return { from: encode(member, baseline)[0], to, origin };
    });
    const at = (node) => combined(paths.map(({ from, to }) => Float64Array.from(from, (v, i) => v + node * (to[i] - v))), false);
    const result = { atBaseline: of.factor * of.value(at(0)[0]) + of.shift, atRow: of.factor * of.value(at(1)[0]) + of.shift };
    for (let steps = 32; steps <= 4096 && !result.addsUp && (steps === 32 || steps * numWeights < 1e9); steps *= 2) {
      const sums = new Float64Array(row.length);
      for (const { node, weight } of rule(steps)) {
        const [y, back] = at(node);
        back(of.gradient(y)).forEach((gradient, m) => gradient.forEach((slope, i) => {
          sums[paths[m].origin[i]] += weight * slope * (paths[m].to[i] - paths[m].from[i]);
        }));
      }
      result.contributions = data.fields.map((field) => of.factor * sum(field.features.map((feature) => sums[feature])));
      const error = sum(result.contributions) - (result.atRow - result.atBaseline);
      result.addsUp = Math.abs(error) <= 1e-3 * sum(result.contributions.map(Math.abs)) +
        1e-6 * (Math.abs(result.atRow) + Math.abs(result.atBaseline));
    }
    return result;
  }
  return { features, predict, explain };
}
