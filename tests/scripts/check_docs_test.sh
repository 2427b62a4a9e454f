#!/usr/bin/env bash
# Proves that scripts/check_docs.py accepts documents in order and names each thing that is not there.
# Usage: tests/scripts/check_docs_test.sh
# shellcheck disable=SC2016  # backticks of Markdown
# shellcheck source=tests/scripts/house.sh
source "$(dirname "$0")/house.sh"

expect() {  # expect NAME STATUS TEXT: what the check says about the house, whole
  expect_of "$@" "$root/scripts/check_docs.py" "$house"
}

put src/CMakeLists.txt 'set(core_layers core data)' 'set(engine_layers model)' \
  'set(program_layers cli)'
put include/trainer/core/error.h 'class Error;'
put include/trainer/core/log.h 'void info();'
put include/trainer/data/csv.h 'int read_csv();'
put include/trainer/model/network.h 'class Network;'
put src/data/csv_rows.cpp 'int read_rows() { return 1; }'
put README.md '# The house' '[here](docs/architecture.md#layers), [web](https://example.org/none)'
tables() {  # tables ROW...: docs/architecture.md with these rows
  put docs/architecture.md '# Architecture' '## Layers' '' '| layer | for | headers |' '|---|---|---|' \
    "$@" '' '[up](../README.md#the-house)'
}
rows=('| `core` | all | error, log |' '| `data` | files | csv |' '| `model` | tensors | network |'
  '| `cli` | people | |')

tables "${rows[@]}"
expect "documents in order" 0 "docs: 2 documents in order"

tables '| `core` | all | error, text |' "${rows[@]:1}"
expect "a header that is not named, and one that is not there" 1 \
  "docs/architecture.md:6: trainer/core/log.h is not named
docs/architecture.md:6: trainer/core/text.h does not exist"

tables "${rows[1]}" "${rows[0]}" "${rows[@]:2}"
expect "layers in another order" 1 \
  "docs/architecture.md:1: names the layers data core model cli; expected core data model cli"

tables "${rows[@]}"
put README.md '`data::read_csv()` and `data::read_rows`, `std::vector`, `src/data/csv_*.cpp`, `data/csv.h`' \
  '`data::read_idx` of `src/data/idx.cpp`, `core/text.h`' '```' '`data::none` [none](none.md)' '```'
expect "names and files that are not there" 1 \
  "README.md:2: data::read_idx: layer data has no read_idx
README.md:2: src/data/idx.cpp: no such file
README.md:2: core/text.h: no such file
docs/architecture.md:11: link to ../README.md#the-house: no such heading"

put README.md '# The house' '[a](docs/none.md) [b](docs/architecture.md#rooms)'
expect "links to nothing" 1 \
  "README.md:2: link to docs/none.md: no such file
README.md:2: link to docs/architecture.md#rooms: no such heading"

finish
