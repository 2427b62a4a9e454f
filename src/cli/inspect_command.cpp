// SPDX-License-Identifier: Apache-2.0
// `trainer inspect RUN_OR_CHECKPOINT`: structure, inputs and training of a model.
#include <memory>
#include <string>
#include <vector>

#include "trainer/apply/inspect.h"

#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/print_document.h"

namespace trainer::cli {
namespace {

class InspectCommand : public Command {
 public:
  std::vector<Option> options() override {
    return {model_option(model_), {"--json", &json_, "", "Print JSON"}};
  }

  void check(const CommonOptions& common, Problems& problems) override {
    check_model("inspect", model_, problems);
    check_overrides("inspect", common, {}, problems);
  }

  int run(const CommonOptions& /*common*/) override {
    print_document(apply::inspection_document(apply::inspect(model_path(model_))), json_);
    return 0;
  }

 private:
  std::string model_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_inspect_command() { return std::make_unique<InspectCommand>(); }

}  // namespace trainer::cli
