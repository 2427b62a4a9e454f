// SPDX-License-Identifier: Apache-2.0
// `trainer inspect RUN_OR_CHECKPOINT`: structure, inputs and training of a model.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "trainer/apply/inspect.h"
#include "trainer/base/text/print_safely.h"

#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/print_document.h"

namespace trainer::cli {
namespace {

class InspectCommand : public Command {
 public:
  std::vector<Option> options() override {
    return {model_option(model_),
            {"--json", &json_, "", "Print JSON"},
            {"--markdown", &markdown_, "", "Print Markdown, such as for a model card"}};
  }

  void check(const CommonOptions& common, Problems& problems) override {
    check_model("inspect", model_, problems);
    check_overrides("inspect", common, {}, problems);
    if (json_ && markdown_) problems.emplace_back("--json: conflicts with --markdown");
  }

  int run(const CommonOptions& /*common*/) override {
    const std::filesystem::path model = model_path(model_);
    const Document document = apply::inspection_document(apply::inspect(model));
    if (markdown_) {
      print_safely("# Model " + model.filename().string() + "\n\n" + document.markdown());
    } else {
      print_document(document, json_);
    }
    return 0;
  }

 private:
  std::string model_;
  bool markdown_ = false;
};

}  // namespace

std::unique_ptr<Command> make_inspect_command() { return std::make_unique<InspectCommand>(); }

}  // namespace trainer::cli
