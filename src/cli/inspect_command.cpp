#include "cli/inspect_command.h"
namespace trainer::cli {
int inspect_command(const Arguments&) { return 0; }
}  // namespace trainer::cli
