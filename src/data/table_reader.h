// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "trainer/data/fingerprint.h"
#include "trainer/data/table.h"
#include "trainer/data/table_pieces.h"

#include "data/table_header.h"

namespace trainer::data {

/// A table of any kind, behind its header.
class TableReader {
 public:
  TableReader() = default;
  virtual ~TableReader() = default;
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  /// Puts the next rows, at most `max_rows`, into `table`, which keeps its memory, and returns
  /// whether there were any. A row that cannot be read is an error, or added to `bad` if that is
  /// given. Throws Error(kData), also for a table without rows.
  bool next(Table& table, int64_t max_rows, std::vector<BadRow>* bad = nullptr);

  /// The two steps of next(), see TablePieces.
  virtual bool take(int64_t max_rows, TablePiece& piece);
  void read(TablePiece& piece);
  void require_rows() const;

  const TableHeader& header() const { return header_; }
  /// Of the ids that are kept.
  std::vector<std::string> id_names() const;
  /// Their types in SQL, if that is known.
  virtual std::vector<std::string> id_types() const { return {}; }
  int64_t num_without_target() const { return num_without_target_; }
  int64_t num_weightless() const { return num_weightless_; }

  /// Bytes of the files read so far.
  virtual uint64_t bytes_read() const = 0;
  /// Those in all, 0 where that is not known.
  virtual uint64_t size_hint() const = 0;
  /// About how many rows there are, 0 where that is not known.
  virtual int64_t num_rows_hint() const = 0;
  /// Of all that was read.
  virtual std::vector<Fingerprint> fingerprints() = 0;

 protected:
  /// For messages.
  virtual const std::string& name() const = 0;
  /// Appends rows to `table`, finishes it, and says how many it has left out as bad.
  virtual int64_t read(Table& table, int64_t max_rows, std::vector<BadRow>* bad) = 0;
  /// Appends the rows that take() has left unread to the table of the piece; on any thread.
  virtual void read_taken(TablePiece& /*piece*/) const {}
  void clear(Table& table) const;

  TableHeader header_;
  std::vector<std::string> targets_;
  int64_t max_categories_ = 0;
  bool expects_labels_ = false;

 private:
  std::mutex mutex_;  // of the next three, which threads change that read pieces
  int64_t num_without_target_ = 0;
  int64_t num_weightless_ = 0;
  bool has_rows_ = false;
};

}  // namespace trainer::data
