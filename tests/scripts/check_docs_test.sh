#!/usr/bin/env bash
# Proves that scripts/check_docs.py accepts documents in order and names each thing that is not there.
# Usage: tests/scripts/check_docs_test.sh
# shellcheck disable=SC2016  # backticks of Markdown
# shellcheck source=tests/scripts/house.sh
source "$(dirname "$0")/house.sh"

expect() {  # expect NAME STATUS TEXT: what the check says about the house, whole
  expect_of "$@" "$root/scripts/check_docs.py" "$house"
}

put src/CMakeLists.txt 'set(core_layers base table)' 'set(engine_layers torch)' \
  'set(program_layers cli)'
put include/trainer/base/error.h 'class Error;'
put src/base/error.cpp 'namespace trainer {'
put include/trainer/table/source/csv.h 'namespace trainer::data {' 'int read_csv();'
put src/table/source/csv_rows.cpp 'namespace trainer::data {' 'int read_rows() { return 1; }'
put src/torch/network.cpp 'namespace trainer::model {'
put src/cli/parser.cpp 'namespace trainer::cli {'
put README.md '# The house' '[here](docs/architecture.md#layers), [web](https://example.org/none)'
table() {  # table ROW...: docs/architecture.md with these rows
  put docs/architecture.md '# Architecture' '## Layers' '' '| folder | for |' '|---|---|' \
    "$@" '' '[up](../README.md#the-house)'
}
rows=('| `base` | all |' '| `table/source` | files |' '| `torch` | tensors |' '| `cli` | people |')

table "${rows[@]}"
expect "documents in order" 0 "docs: 2 documents in order"

table '| `base/text` | all |' "${rows[@]:1}"
expect "a folder that is not named, and one that is not there" 1 \
  "docs/architecture.md:1: the table of folders lacks base
docs/architecture.md:1: the table of folders has base/text, which does not exist"

table "${rows[@]}"
put README.md '`data::read_csv()` and `data::read_rows`, `std::vector`, `src/table/source/csv_*.cpp`, `table/source/csv.h`' \
  '`data::read_idx` of `src/table/source/idx.cpp`, `base/text.h`' '```' '`data::none` [none](none.md)' '```'
expect "names and files that are not there" 1 \
  "README.md:2: data::read_idx: namespace data has no read_idx
README.md:2: src/table/source/idx.cpp: no such file
README.md:2: base/text.h: no such file
docs/architecture.md:11: link to ../README.md#the-house: no such heading"

put README.md '# The house' '[a](docs/none.md) [b](docs/architecture.md#rooms)'
expect "links to nothing" 1 \
  "README.md:2: link to docs/none.md: no such file
README.md:2: link to docs/architecture.md#rooms: no such heading"

finish
