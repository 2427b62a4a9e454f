// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include <algorithm>
#include <vector>

// Each command has a file, a row here and a line in CMakeLists.txt. TASK(title) begins the commands
// that --help lists together. COMMAND(name, help, function) names the function in that file that
// makes the command; GROUP(name, help) comes before the commands of the group.
#define TRAINER_COMMANDS(TASK, GROUP, COMMAND)                                                   \
  TASK("Make a model")                                                                           \
  COMMAND("train", "Train a model (the default)", make_train_command)                            \
  COMMAND("fit", "From a table to a model and a report", make_fit_command)                       \
  COMMAND("init", "Write a first configuration for a table", make_init_command)                  \
  COMMAND("cv", "Cross-validate: train and test one model per fold", make_cv_command)            \
  COMMAND("ensemble", "Train several models and make one of them", make_ensemble_command)        \
  COMMAND("search", "Try configurations and make one model of the best", make_search_command)    \
  TASK("Use a model")                                                                            \
  COMMAND("predict", "Predict with a trained model", make_predict_command)                       \
  COMMAND("eval", "Evaluate a trained model", make_eval_command)                                 \
  COMMAND("explain", "Tell why a model predicts what it predicts", make_explain_command)         \
  COMMAND("inspect", "Describe a model and how it was trained", make_inspect_command)            \
  COMMAND("report", "Write an HTML report about runs", make_report_command)                      \
  COMMAND("export", "Export a trained model to another format", make_export_command)             \
  TASK("Manage runs")                                                                            \
  GROUP("runs", "List, compare and clean up runs")                                               \
  COMMAND("runs list", "List the runs of a folder", make_runs_list_command)                      \
  COMMAND("runs show", "Show one run: what happened, settings, metrics", make_runs_show_command) \
  COMMAND("runs compare", "Compare runs: what differs, and what is noise",                       \
          make_runs_compare_command)                                                             \
  COMMAND("runs watch", "Watch a run that another process trains", make_runs_watch_command)      \
  COMMAND("runs note", "Note something about a run", make_runs_note_command)                     \
  COMMAND("runs remove", "Remove runs, by name or by rules", make_runs_remove_command)           \
  COMMAND("runs restore", "Bring removed runs back", make_runs_restore_command)                  \
  COMMAND("runs purge", "Delete removed runs for good", make_runs_purge_command)                 \
  COMMAND("verify", "Verify checkpoints and describe them", make_verify_command)                 \
  TASK("Configure a run")                                                                        \
  GROUP("config", "Print or check the configuration")                                            \
  COMMAND("config print", "Print the resolved configuration", make_config_print_command)         \
  COMMAND("config check", "Validate the configuration and exit", make_config_check_command)      \
  COMMAND("config reference", "Describe keys, or print all as Markdown",                         \
          make_config_reference_command)                                                         \
  COMMAND("config schema", "Print the JSON Schema for editors", make_config_schema_command)      \
  COMMAND("config schedule", "Preview the steps and learning rates of a run",                    \
          make_schedule_command)                                                                 \
  COMMAND("find-batch", "Find the largest batch that fits and the fastest",                      \
          make_find_batch_command)                                                               \
  COMMAND("profile", "Measure where the time of training goes", make_profile_command)            \
  TASK("Set up and check the program")                                                           \
  COMMAND("doctor", "Check this machine: what is good, and what to do", make_doctor_command)     \
  GROUP("selftest", "Run self-tests on this machine")                                            \
  COMMAND("selftest resume", "Check that resumed runs end with the same bits",                   \
          make_selftest_resume_command)                                                          \
  COMMAND("completion", "Print the script that completes words in a shell",                      \
          make_completion_command)                                                               \
  COMMAND("manual", "Print the manual page of all of this", make_manual_command)

namespace trainer::cli {

#define NO_TASK(title)
#define NO_GROUP(name, help)
#define DECLARE_COMMAND(name, help, function) std::unique_ptr<Command> function();
TRAINER_COMMANDS(NO_TASK, NO_GROUP, DECLARE_COMMAND)

std::span<const CommandRow> command_table() {
  static const std::vector<CommandRow> kTable = [] {
    std::vector<CommandRow> table;
    const char* task = "";
#define SET_TASK(title) task = title;
#define ADD_GROUP(name, help) table.push_back({name, help, nullptr, task});
#define ADD_COMMAND(name, help, function) table.push_back({name, help, function, task});
    TRAINER_COMMANDS(SET_TASK, ADD_GROUP, ADD_COMMAND)
    return table;
  }();
  return kTable;
}

std::unique_ptr<Command> make_command(std::string_view name) {
  const std::span<const CommandRow> rows = command_table();
  return std::find_if(rows.begin(), rows.end(),
                      [&](const CommandRow& row) { return row.name == name; })
      ->make();
}

}  // namespace trainer::cli
