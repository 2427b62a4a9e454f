/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of exported C files: src/apply/export_c.cpp writes those sections that a model
   uses, in this order. Sums are in double, so that their order does not matter. */

/* section: unpack */
#if defined(__GNUC__)
#define IS_SET(flag) __atomic_load_n(&(flag), __ATOMIC_ACQUIRE)
#define SET(flag) __atomic_store_n(&(flag), 1, __ATOMIC_RELEASE)
#else
#define IS_SET(flag) (flag)
#define SET(flag) ((flag) = 1)
#endif

/* The first call reads the weights, the bits of each from five digits to the base 85. Threads that
   do so at the same time write the same. */
static void unpack(void) {
  static volatile int is_done = 0;
  const size_t in_line = sizeof packed[0] / 5;
  size_t i, k;
  if (IS_SET(is_done)) return;
  for (i = 0; i < sizeof weights / sizeof weights[0]; i++) {
    const char *digits = packed[i / in_line] + i % in_line * 5;
    uint32_t bits = 0;
    for (k = 0; k < 5; k++) bits = bits * 85 + (uint32_t)(digits[k] - '#');
    memcpy(&weights[i], &bits, sizeof bits);
  }
  SET(is_done);
}

/* section: copy */
static void copy(const double *x, int n, double *y) {
  int i;
  for (i = 0; i < n; i++) y[i] = x[i];
}

/* section: cell */
/* The number that the model computes with, or NaN where it is missing. */
static float cell(double number, double offset, const double *codes, int num_codes) {
  int i;
  for (i = 0; i < num_codes; i++) {
    if (number == codes[i]) return (float)NAN;
  }
  return (float)(number - offset);
}

/* section: limited */
static float limited(float x, float low, float high) { return x < low ? low : x > high ? high : x; }

/* section: quantile */
/* The score of x among ascending quantiles; those that are equal have the middle of their ranks. */
static float quantile(float x, const float *quantiles, const double *scores, int n) {
  int below = 0, above = n, equal = 0;
  if (quantiles[0] == quantiles[n - 1]) return 0;
  while (below < above) {
    const int middle = below + (above - below) / 2;
    if (quantiles[middle] < x) {
      below = middle + 1;
    } else {
      above = middle;
    }
  }
  while (below + equal < n && quantiles[below + equal] == x) equal++;
  if (equal > 0) return (float)scores[2 * below + equal - 1];
  if (below == n) return (float)scores[2 * (n - 1)];
  if (below == 0) return (float)scores[0];
  {
    const double low = quantiles[below - 1], high = quantiles[below];
    const double from = scores[2 * (below - 1)], to = scores[2 * below];
    return (float)(from + (x - low) / (high - low) * (to - from));
  }
}

/* section: category */
/* The number of a text among those in ascending order, -1 if it is none of them. */
static int category(const char *text, const char *const *texts, const int *numbers, int n) {
  int low = 0, high = n;
  if (text == NULL) text = "";
  while (low < high) {
    const int middle = low + (high - low) / 2;
    const int order = strcmp(text, texts[middle]);
    if (order == 0) return numbers[middle];
    if (order < 0) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return -1;
}

/* section: scale */
static void scale(const float *x, int n, const float *shift, const float *factor, double *y) {
  int i;
  for (i = 0; i < n; i++) y[i] = (float)((float)(x[i] - shift[i]) * factor[i]);
}

/* section: smooth_clip */
static void smooth_clip(double *x, int n, const float *inverse_limit) {
  int i;
  for (i = 0; i < n; i++) {
    const double part = x[i] * inverse_limit[i];
    x[i] /= sqrt(1 + part * part);
  }
}

/* section: embed */
static void embed(double number, const float *table, int size, double *y) {
  int i;
  const float *row = table + (int)number * size;
  for (i = 0; i < size; i++) y[i] = row[i];
}

/* section: periodic */
/* y = cos(2 pi x w + p) V + b for each chosen x. */
static void periodic(const double *x, const int *chosen, int n, const float *w, const float *p,
                     int frequencies, const float *v, const float *b, int size, double *y) {
  int i, k, c;
  for (i = 0; i < n; i++, w += frequencies, p += frequencies, b += size, y += size) {
    for (c = 0; c < size; c++) y[c] = b[c];
    for (k = 0; k < frequencies; k++, v += size) {
      const double wave = cos(x[chosen[i]] * (float)(w[k] * 6.28318531f) + p[k]);
      for (c = 0; c < size; c++) y[c] += wave * v[c];
    }
  }
}

/* section: piecewise */
/* y = x w + b + sum of e V over the bins of each chosen x, e the part of a bin that is below x. */
static void piecewise(const double *x, const int *chosen, int n, const float *bins, int num_bins,
                      const float *w, const float *b, const float *v, int size, double *y) {
  int i, t, c;
  for (i = 0; i < n; i++, w += size, b += size, y += size) {
    const double number = x[chosen[i]];
    for (c = 0; c < size; c++) y[c] = number * w[c] + b[c];
    for (t = 0; t < num_bins; t++, bins += 4, v += size) {
      double part = (number - bins[0]) * bins[1];
      part = part < bins[2] ? bins[2] : part > bins[3] ? bins[3] : part;
      for (c = 0; c < size; c++) y[c] += part * v[c];
    }
  }
}

/* section: multiply */
static void multiply(const double *x, int n, const float *w, double *y) {
  int i;
  for (i = 0; i < n; i++) y[i] = x[i] * w[i];
}

/* section: linear */
/* y = x W + b, with the weights of an input next to each other. */
static void linear(const double *x, int inputs, const float *w, const float *b, int outputs,
                   double *y) {
  int i, o;
  for (o = 0; o < outputs; o++) y[o] = b[o];
  for (i = 0; i < inputs; i++, w += outputs) {
    const double number = x[i];
    for (o = 0; o < outputs; o++) y[o] += number * w[o];
  }
}

/* section: batch_norm */
static void batch_norm(double *x, int n, const float *w, const float *b, const float *mean,
                       const float *variance) {
  int i;
  for (i = 0; i < n; i++) x[i] = (x[i] - mean[i]) / sqrt(variance[i] + 1e-5) * w[i] + b[i];
}

/* section: layer_norm */
static void layer_norm(double *x, int n, const float *w, const float *b) {
  int i;
  double mean = 0, variance = 0;
  for (i = 0; i < n; i++) mean += x[i] / n;
  for (i = 0; i < n; i++) variance += (x[i] - mean) * (x[i] - mean) / n;
  for (i = 0; i < n; i++) x[i] = (x[i] - mean) / sqrt(variance + 1e-5) * w[i] + b[i];
}

/* section: relu */
static double relu(double x) { return x < 0 ? 0 : x; }

/* section: gelu */
static double gelu(double x) { return 0.5 * x * (1 + erf(x * 0.70710678118654752)); }

/* section: silu */
static double silu(double x) { return x / (1 + exp(-x)); }

/* section: selu */
static double selu(double x) {
  return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * expm1(x));
}

/* section: mish */
static double mish(double x) { return x * tanh(x > 30 ? x : log1p(exp(x))); }

/* section: activate */
/* f(x), or x + (f(x) - x) a with a learned a for each number. */
static void activate(double *x, int n, double (*f)(double), const float *a) {
  int i;
  for (i = 0; i < n; i++) x[i] = a == NULL ? f(x[i]) : x[i] + (f(x[i]) - x[i]) * a[i];
}

/* section: add */
static void add(double *x, int n, const double *y) {
  int i;
  for (i = 0; i < n; i++) x[i] += y[i];
}

/* section: limit */
static void limit(double *x, int n, const float *low, const float *high) {
  int i;
  for (i = 0; i < n; i++) x[i] = x[i] < low[i] ? low[i] : x[i] > high[i] ? high[i] : x[i];
}

/* section: mean */
/* The mean of the predictions of the members, by their weights if there are some. */
static void mean(const double *x, int members, int n, const double *weights, double *y) {
  int m, i;
  for (i = 0; i < n; i++) y[i] = 0;
  for (m = 0; m < members; m++) {
    const double weight = weights == NULL ? 1.0 / members : weights[m];
    for (i = 0; i < n; i++) y[i] += weight * x[m * n + i];
  }
}

/* section: log_mean */
/* log(e^a + e^b), also where these are beyond the range of numbers. */
static double log_add(double a, double b) {
  if (a == b) return a + log(2.0);
  return a > b ? a + log1p(exp(b - a)) : b + log1p(exp(a - b));
}

/* The logarithms of the mean probabilities of the members; of a single logit, the logit. */
static void log_mean(const double *x, int members, int n, const double *weights, double *y) {
  int m, i;
  double none = 0;
  for (m = 0; m < members; m++, x += n) {
    const double weight = log(weights == NULL ? 1.0 / members : weights[m]);
    double sum = n == 1 ? log_add(0, x[0]) : x[0];
    for (i = 1; i < n; i++) sum = log_add(sum, x[i]);
    none = m == 0 ? weight - sum : log_add(none, weight - sum);
    for (i = 0; i < n; i++) {
      y[i] = m == 0 ? weight + x[i] - sum : log_add(y[i], weight + x[i] - sum);
    }
  }
  if (n == 1) y[0] -= none;
}

/* section: times */
static void times(double *x, int n, double factor) {
  int i;
  for (i = 0; i < n; i++) x[i] *= factor;
}

/* section: softmax */
static void softmax(const double *x, int n, double *y) {
  int i;
  double largest = x[0], sum = 0;
  for (i = 1; i < n; i++) largest = x[i] > largest ? x[i] : largest;
  for (i = 0; i < n; i++) sum += y[i] = exp(x[i] - largest);
  for (i = 0; i < n; i++) y[i] /= sum;
}

/* section: sigmoid */
/* Of both classes: 1 - p would lose the digits of a small probability. */
static void sigmoid(const double *x, double *y) {
  y[0] = 1 / (1 + exp(x[0]));
  y[1] = 1 / (1 + exp(-x[0]));
}

/* section: unscale */
static void unscale(const double *x, int n, const float *shift, const float *factor,
                    const double *offset, double *y) {
  int i;
  for (i = 0; i < n; i++) y[i] = (float)(x[i] / factor[i] + shift[i]) + offset[i];
}
