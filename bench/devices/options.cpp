// SPDX-License-Identifier: Apache-2.0
#include "devices/options.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/text/parse.h"

namespace trainer::bench {
namespace {

constexpr std::size_t kNameColumns = 25;  // of the help, in front of the descriptions
constexpr std::size_t kColumns = 80;

constexpr const char* kFooter = R"(Examples:
  bench_devices                       what this machine has, under a minute
  bench_devices --device cpu,cuda --precision fp32 --model large
  bench_devices --model 20-64-64-3 --train-step fused --steps 200
  bench_devices --config configs/train.yaml training.batch_size=256
  bench_devices --inference --model mid --batch-size 1,32,1024
  bench_devices --json base.json      save the results ...
  bench_devices --baseline base.json  ... and compare with them later
  bench_devices --check-consistency 5 --max-variation 10

Models: tiny is 10-128-128-2, mid 784-256-256-10, large 784-1024-1024-10;
  others as their widths.

Flags of Google Benchmark work too, written with "=":
  --benchmark_list_tests=true --benchmark_filter=cpu_fp32/
  --benchmark_repetitions=3 --benchmark_out=FILE
  --benchmark_format=json (the table then goes to standard error)

Exit codes: 0 success; 1 a row failed, has a wrong loss, needs more and more
  memory, is slower than the baseline or varies too much; 2 usage or
  configuration; 3 data or a baseline that cannot be read; 4 no requested
  device is available; 8 a file that cannot be written.
docs/benchmarking.md explains how to read the table.)";

// With line breaks, for a description of the help.
std::string folded(const std::string& text) {
  std::string result;
  std::size_t width = 0;
  for (const std::string& word : CLI::detail::split(text, ' ')) {
    if (width > 0 && width + 1 + word.size() > kColumns - kNameColumns) {
      result += '\n';
      width = 0;
    }
    result += (width > 0 ? " " : "") + word;
    width += (width > 0 ? 1 : 0) + word.size();
  }
  return result;
}

struct NamedWorkload {
  const char* name;
  Workload workload;
};

// The three models of docs/peers.md.
const std::vector<NamedWorkload>& named_workloads() {
  static const std::vector<NamedWorkload> all = {
      {"tiny", {"10-128-128-2", 10, {128, 128}, 2, 32}},
      {"mid", {"784-256-256-10", 784, {256, 256}, 10, 128}},
      {"large", {"784-1024-1024-10", 784, {1024, 1024}, 10, 512}}};
  return all;
}

// "20-64-64-3": features, hidden layers, classes; nothing for other text.
std::optional<Workload> shape(const std::string& text) {
  std::vector<int64_t> widths;
  for (const std::string& part : CLI::detail::split(text, '-')) {
    const auto width = parse_int(part);
    if (!width || *width < 1 || *width > 1'000'000) return std::nullopt;
    widths.push_back(*width);
  }
  if (widths.size() < 2 || widths.back() < 2) return std::nullopt;
  return Workload{text, widths.front(), {widths.begin() + 1, widths.end() - 1}, widths.back(), 32};
}

std::optional<Workload> find_workload(const std::string& name) {
  for (const NamedWorkload& named : named_workloads()) {
    if (name == named.name) return named.workload;
  }
  return shape(name);
}

bool is_device(const std::string& name) {
  if (name == "cpu" || name == "mps" || name == "cuda") return true;
  return name.starts_with("cuda:") && parse_int(name.substr(5)).value_or(-1) >= 0;
}

bool is_precision(const std::string& name) {
  const auto& choices = precision_choices();
  return std::any_of(choices.begin(), choices.end(),
                     [&](const PrecisionChoice& choice) { return choice.name == name; });
}

std::string precision_names() {
  std::vector<std::string> names;
  for (const PrecisionChoice& choice : precision_choices()) names.push_back(choice.name);
  return joined(names, " or ");
}

// CLI11 puts the name of the option before the message.
CLI::Validator check(bool (*is_right)(const std::string&), const std::string& expected) {
  return {[=](std::string& text) {
            return is_right(text) ? ""
                                  : fmt::format("expected {}, got {}", expected, in_quotes(text));
          },
          ""};
}

bool is_count(const std::string& text) { return parse_int(text).value_or(0) >= 1; }
bool is_count_or_zero(const std::string& text) { return parse_int(text).value_or(-1) >= 0; }
bool is_percentage(const std::string& text) {
  const double value = parse_double(text).value_or(-1);
  return value >= 0 && value <= 1e6;
}
bool is_duration(const std::string& text) {
  const double value = parse_double(text).value_or(0);
  return value > 0 && value <= 1e6;
}
bool is_model(const std::string& text) { return find_workload(text).has_value(); }
bool is_train_step(const std::string& text) {
  return text == "autograd" || text == "fused" || text == "both";
}

class Parser {
 public:
  Parser()
      : app_(
            "Times a training step (forward, loss, backward, clipping, AdamW) on the\n"
            "devices of this machine, which take turns, and recommends one.",
            "bench_devices") {
    app_.get_formatter()->column_width(kNameColumns);
    app_.set_help_flag("-h,--help", "Print this help and exit");
    add_what();
    add_how();
    add_files();
    app_.footer(kFooter);
  }

  Options parse(const std::vector<std::string>& arguments) {
    std::vector<std::string> own;
    for (const std::string& argument : arguments) {
      // Google Benchmark requires the form --flag=value.
      const bool is_google = argument.starts_with("--benchmark_") || argument.starts_with("--v=");
      (is_google ? options_.google_arguments : own).push_back(argument);
    }
    std::reverse(own.begin(), own.end());  // in the order of CLI11
    try {
      app_.parse(own);
    } catch (const CLI::CallForHelp&) {
      options_.help = app_.help() + "\n";
      return options_;
    } catch (const CLI::ParseError& e) {
      throw Error(ErrorKind::kUsage, fmt::format("{}; see bench_devices --help", e.what()));
    }
    take_lists();
    return std::move(options_);
  }

 private:
  void add_what() {
    list("--device", options_.devices, "cpu, mps, cuda, cuda:N (default: cpu,mps,cuda)",
         check(is_device, "cpu, mps, cuda or cuda:N"));
    list("--precision", precisions_, fmt::format("{} (default: all of them)", precision_names()),
         check(is_precision, precision_names()));
    list("--model", models_,
         "tiny, mid, large or widths: features-hidden-...-classes (default: tiny,mid,large)",
         check(is_model, "tiny, mid, large or widths such as 20-64-64-3"));
    list("--batch-size", batch_sizes_, "For each model (default: 32, mid 128, large 512)",
         check(is_count, "an integer >= 1"));
    app_.add_option("--train-step", train_step_, "autograd, fused or both (default: both)")
        ->check(check(is_train_step, "autograd, fused or both"))
        ->type_name("KIND");
    number("--threads", options_.num_threads, "Number of CPU threads (default: all usable CPUs)",
           check(is_count, "an integer >= 1"));
    app_.add_flag("--inference", is_inference_,
                  folded("Time the forward pass in inference mode instead of a training step"));
    app_.add_option("-c,--config", options_.config_files,
                    folded("Model, batch, optimizer, recipe and data of this YAML file of trainer, "
                           "instead of --model; several files are merged in order"))
        ->allow_extra_args(false)
        ->type_name("FILE");
    app_.add_option("override", overrides_, "Set any configuration key, with --config")
        ->check(check([](const std::string& text) { return text.find('=', 1) < text.size(); },
                      "key=value"))
        ->type_name("KEY=VALUE");
  }

  void add_how() {
    number("--warmup-steps", options_.warmup_steps,
           "Warm-up steps before the timed ones, for at least 0.2 s (default: 10)",
           check(is_count_or_zero, "an integer >= 0"));
    number("--steps", options_.steps, "Timed steps per row (default: 50)",
           check(is_count, "an integer >= 1"));
    number("--check-steps", options_.check_steps,
           "Number of steps after which the loss is compared with CPU fp32 autograd (default: 10)",
           check(is_count, "an integer >= 1"));
    number("--growth-steps", options_.growth_steps,
           "Steps over which memory may grow by 100 MB, for at most a tenth of --max-seconds "
           "(default: 1000)",
           check(is_count_or_zero, "an integer >= 0"));
    number("--max-seconds", options_.max_seconds,
           "Time limit of a row; remaining steps are skipped and the table says so (default: 5)",
           check(is_duration, "a number > 0"));
    consistency_ =
        app_.add_option(
                "--check-consistency", num_checks_,
                folded("Measure everything N times (default: 5); exit with 1 if a row varies too "
                       "much"))
            ->expected(0, 1)
            ->check(check([](const std::string& text) { return text == "true" || is_count(text); },
                          "an integer >= 1"))
            ->type_name("[N]");
    number("--max-variation", options_.max_variation,
           "Limit for the coefficient of variation of a row's medians in % (default: 10)",
           check(is_percentage, "a number >= 0"));
  }

  void add_files() {
    file("--json", options_.json, "Write results and conditions to this file");
    file("--baseline", options_.baseline,
         "Compare with such a file; exit with 1 if a row is slower, outside its noise");
    number("--max-slowdown", options_.max_slowdown,
           "Limit for the slowdown against the baseline in % (default: 5)",
           check(is_percentage, "a number >= 0"));
    number(
        "--max-lost", options_.max_lost,
        "Part of the time in % that other programs may take from a row, here or in the baseline; "
        "above it, the row is not compared with the baseline (default: 10)",
        check(is_percentage, "a number >= 0"));
    file("--history", options_.history, "Append one line (CSV) about this run");
  }

  void list(const char* name, std::vector<std::string>& values, const std::string& help,
            const CLI::Validator& validator) {
    app_.add_option(name, values, folded(help))
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(validator)
        ->type_name("LIST");
  }

  template <typename Number>
  void number(const char* name, Number& value, const std::string& help,
              const CLI::Validator& validator) {
    app_.add_option(name, value, folded(help))->check(validator)->type_name("N");
  }

  void file(const char* name, std::string& value, const std::string& help) {
    app_.add_option(name, value, folded(help))->type_name("FILE");
  }

  void take_lists() {
    if (precisions_.empty()) {
      for (const PrecisionChoice& choice : precision_choices()) precisions_.push_back(choice.name);
    }
    options_.precisions = without_repeats(precisions_);
    options_.devices = without_repeats(options_.devices);
    if (train_step_ != "both") options_.train_steps = {train_step_};
    if (is_inference_) options_.pass = Pass::kInference;
    if (consistency_->count() > 0) options_.num_checks = parse_int(num_checks_).value_or(5);
    take_overrides();
    if (options_.config_files.empty()) {
      take_models();
      return;
    }
    if (!models_.empty()) {
      throw Error(ErrorKind::kUsage,
                  "--model: --config has a model already; remove one, or set "
                  "model.hidden_sizes=[256,256]");
    }
    for (const std::string& size : without_repeats(batch_sizes_)) {
      options_.batch_sizes.push_back(parse_int(size).value_or(0));
    }
  }

  void take_overrides() {
    for (const std::string& text : overrides_) {
      const std::size_t equals = text.find('=');
      options_.overrides.push_back(
          {text.substr(0, equals), text.substr(equals + 1), "command line"});
    }
    if (overrides_.empty() || !options_.config_files.empty()) return;
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: changes a configuration; add --config FILE", overrides_.front()));
  }

  void take_models() {
    if (models_.empty()) models_ = {"tiny", "mid", "large"};
    for (const std::string& model : without_repeats(models_)) {
      const Workload workload = find_workload(model).value_or(Workload{});
      if (batch_sizes_.empty()) options_.workloads.push_back(workload);
      for (const std::string& size : without_repeats(batch_sizes_)) {
        options_.workloads.push_back(workload);
        options_.workloads.back().batch_size = parse_int(size).value_or(0);
      }
    }
  }

  static std::vector<std::string> without_repeats(const std::vector<std::string>& values) {
    std::vector<std::string> result;
    for (const std::string& value : values) {
      if (std::find(result.begin(), result.end(), value) == result.end()) result.push_back(value);
    }
    return result;
  }

  CLI::App app_;
  Options options_;
  std::vector<std::string> precisions_;
  std::vector<std::string> models_;
  std::vector<std::string> batch_sizes_;
  std::vector<std::string> overrides_;
  std::string train_step_ = "both";
  bool is_inference_ = false;
  std::string num_checks_;
  CLI::Option* consistency_ = nullptr;
};

}  // namespace

const std::vector<PrecisionChoice>& precision_choices() {
  static const std::vector<PrecisionChoice> all = {{"fp32", config::Precision::kFp32, 1e-3},
                                                   {"fp16", config::Precision::kFp16, 5e-2},
                                                   {"bf16", config::Precision::kBf16, 5e-2}};
  return all;
}

Options parse_options(const std::vector<std::string>& arguments) {
  return Parser().parse(arguments);
}

Json to_json(const Options& options) {
  return {{"warmup_steps", options.warmup_steps}, {"steps", options.steps},
          {"check_steps", options.check_steps},   {"growth_steps", options.growth_steps},
          {"max_seconds", options.max_seconds},   {"threads", options.num_threads}};
}

}  // namespace trainer::bench
