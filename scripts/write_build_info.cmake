cmake_minimum_required(VERSION 3.22)

# Writes OUTPUT, a header with facts of this build, when they changed. Called at each build with
# cmake -D OUTPUT=... -D SOURCE_DIR=... -D VERSION=... -D COMPILER=... -D BUILD_TYPE=...
#       -D LIBTORCH=... -D SYSTEM_BLAS=0|1 -P write_build_info.cmake
execute_process(COMMAND git rev-parse HEAD WORKING_DIRECTORY ${SOURCE_DIR}
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
                RESULT_VARIABLE failed)
set(dirty 0)
if(failed)
  set(commit unknown)
  string(TIMESTAMP date "%Y-%m-%d" UTC)  # of SOURCE_DATE_EPOCH, if that is set
else()
  execute_process(COMMAND git show -s --format=%cd --date=short HEAD
                  WORKING_DIRECTORY ${SOURCE_DIR}
                  OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND git status --porcelain --untracked-files=no
                  WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    set(dirty 1)
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT
"#pragma once
#define TRAINER_VERSION \"@VERSION@\"
#define TRAINER_GIT_COMMIT \"@commit@\"
#define TRAINER_GIT_DIRTY @dirty@
#define TRAINER_DATE \"@date@\"
#define TRAINER_COMPILER \"@COMPILER@\"
#define TRAINER_BUILD_TYPE \"@BUILD_TYPE@\"
#define TRAINER_LIBTORCH \"@LIBTORCH@\"
#define TRAINER_SYSTEM_BLAS @SYSTEM_BLAS@
")
