// SPDX-License-Identifier: Apache-2.0
#include "devices/history.h"

#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace trainer::bench {
namespace {

TEST(HistoryTest, AppendsLinesBelowOneHeader) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "history.csv";
  append_history(file,
                 {"2026-01-01T00:00:00+0000", "0123456789abcdef", "measured", 6, 0, 1.5, "", 0});
  append_history(file, {"2026-01-02T00:00:00+0000", "0123456789abcdef", "failed", 6, 1, 1.75,
                        "cpu_fp32/10-2/batch_32", 16.66});
  EXPECT_EQ(
      test::read_file(file),
      "time,git_commit,verdict,rows,slower_rows,geometric_mean_ms,worst_row,worst_percent\n"
      "2026-01-01T00:00:00+0000,0123456789ab,measured,6,0,1.5000,,\n"
      "2026-01-02T00:00:00+0000,0123456789ab,failed,6,1,1.7500,cpu_fp32/10-2/batch_32,16.7\n");
}

TEST(HistoryTest, AFileThatCannotBeWrittenIsAnError) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(test::error_of([&] { append_history(folder.path(), {}); }).kind(),
            ErrorKind::kFileSystem);
}

}  // namespace
}  // namespace trainer::bench
