// SPDX-License-Identifier: Apache-2.0
#include "trainer/launch/rendezvous.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <future>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "launch/pmi.h"
#include "support/child.h"
#include "support/error_of.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace trainer::launch {
namespace {

namespace fs = std::filesystem;

using std::chrono::milliseconds;

using Variables = std::map<std::string, std::string>;

Environment environment_of(const Variables& variables) {
  return [variables](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

Place place_of(Launcher launcher, int64_t rank = 1, int64_t size = 2, int64_t restarts = 0) {
  return {launcher, rank, size, 0, 1, restarts};
}

Rendezvous found(const Place& place, const Variables& variables) {
  return find_rendezvous(place, environment_of(variables), "runs");
}

std::string problem(const Place& place, const Variables& variables) {
  return test::message_of(ErrorKind::kDevice, [&] { found(place, variables); });
}

constexpr const char* kOrAlone = ", or set distributed.enabled=off to run by itself";
constexpr const char* kSetAddress =
    "; set MASTER_ADDR and MASTER_PORT to an address of rank 0, the same for all ranks, or set "
    "distributed.enabled=off to run by itself";
constexpr const char* kShareFolder =
    "; make sure that all ranks start, on machines that share this folder, or set "
    "distributed.enabled=off to run by itself";

const Variables kAddress = {{"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"}};
const Variables kSlurm = {{"SLURM_JOB_ID", "17"}, {"SLURM_STEP_ID", "2"}};
const Variables kOfOpenMpi = {{"PMIX_NAMESPACE", "prterun-vm-7571@1"}};

Variables joined_with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

TEST(RendezvousTest, TorchrunTellsTheAddress) {
  // Not the restarts: agents that joined at different times count differently.
  EXPECT_EQ(found(place_of(Launcher::kTorchrun, 1, 2, 3),
                  joined_with(kAddress, {{"TORCHELASTIC_RUN_ID", "my/run"},
                                         {"TORCHELASTIC_USE_AGENT_STORE", "False"}})),
            (Rendezvous{Meeting::kAddress, "node1", 29500, "",
                        "runs/.rendezvous_torchrun_my_run_29500"}));
}

TEST(RendezvousTest, TheStoreOfTorchrunsAgentNeedsTheAttempt) {
  EXPECT_EQ(found(place_of(Launcher::kTorchrun, 1, 2, 3),
                  joined_with(kAddress, {{"TORCHELASTIC_RUN_ID", "none"},
                                         {"TORCHELASTIC_USE_AGENT_STORE", "True"}})),
            (Rendezvous{Meeting::kStore, "node1", 29500, "attempt_3/",
                        "runs/.rendezvous_torchrun_none_29500_3"}));
}

TEST(RendezvousTest, AnAddressSetByHandWinsUnderEveryLauncher) {
  const std::string by_address = "runs/.rendezvous_address_node1_29500";
  const auto meet = [](const char* folder) {
    return Rendezvous{Meeting::kAddress, "node1", 29500, "", folder};
  };
  EXPECT_EQ(found(place_of(Launcher::kVariables), kAddress), meet(by_address.c_str()));
  EXPECT_EQ(found(place_of(Launcher::kMpich), joined_with(kAddress, {{"PMI_FD", "8"}})),
            meet(by_address.c_str()));
  EXPECT_EQ(found(place_of(Launcher::kOpenMpi), joined_with(kAddress, kOfOpenMpi)),
            meet("runs/.rendezvous_mpirun_prterun-vm-7571_1"));
  EXPECT_EQ(found(place_of(Launcher::kSlurm, 1, 2, 4), joined_with(kAddress, kSlurm)),
            meet("runs/.rendezvous_slurm_17_2_4"));
}

TEST(RendezvousTest, EachLauncherHasItsOwnWay) {
  EXPECT_EQ(found(place_of(Launcher::kOpenMpi), kOfOpenMpi).meeting,
            has_pmix() ? Meeting::kPmix : Meeting::kFile);
  EXPECT_EQ(found(place_of(Launcher::kMpich), {{"PMI_FD", "8"}}),
            (Rendezvous{Meeting::kPmi1, "", 0, "", ""}));
  EXPECT_EQ(found(place_of(Launcher::kSlurm),
                  joined_with(kSlurm, {{"PMI_FD", "8"}, {"SLURM_MPI_TYPE", "pmi2"}}))
                .meeting,
            Meeting::kPmi2);
  EXPECT_EQ(found(place_of(Launcher::kSlurm), joined_with(kSlurm, {{"SLURM_MPI_TYPE", "none"}})),
            (Rendezvous{Meeting::kFile, "", 0, "", "runs/.rendezvous_slurm_17_2_0"}));
}

TEST(RendezvousTest, HalfAnAddressIsKept) {
  Rendezvous half =
      found(place_of(Launcher::kSlurm), joined_with(kSlurm, {{"MASTER_ADDR", "node1"}}));
  EXPECT_EQ(half.meeting, Meeting::kFile);
  EXPECT_EQ(half.host, "node1");
  half = found(place_of(Launcher::kSlurm), joined_with(kSlurm, {{"MASTER_PORT", "29500"}}));
  EXPECT_EQ(half.meeting, Meeting::kFile);
  EXPECT_EQ(half.port, 29500);
}

TEST(RendezvousTest, RanksAreOnOneMachineIfTheLauncherOrTheAddressSaysSo) {
  const Place whole{Launcher::kTorchrun, 1, 2, 1, 2, 0};
  EXPECT_TRUE(found(whole, kAddress).is_local);
  EXPECT_FALSE(found(place_of(Launcher::kTorchrun), kAddress).is_local);
  // Without LOCAL_WORLD_SIZE that of a place is only the least.
  const Place guessed{Launcher::kVariables, 1, 2, 1, 2, 0};
  EXPECT_FALSE(found(guessed, joined_with(kAddress, {{"LOCAL_RANK", "1"}})).is_local);
  EXPECT_TRUE(found(guessed, joined_with(kAddress, {{"LOCAL_WORLD_SIZE", "2"}})).is_local);
  for (const char* host : {"127.0.0.1", "127.0.1.1", "::1"}) {
    const Variables variables = joined_with(kAddress, {{"MASTER_ADDR", host}});
    EXPECT_TRUE(found(place_of(Launcher::kVariables), variables).is_local) << host;
  }
  // Kubeflow gives this name to rank 0 alone.
  const Variables variables = joined_with(kAddress, {{"MASTER_ADDR", "localhost"}});
  EXPECT_FALSE(found(place_of(Launcher::kVariables), variables).is_local);
}

TEST(RendezvousTest, LongNamesAreCut) {
  const Variables variables =
      joined_with(kAddress, {{"TORCHELASTIC_RUN_ID", std::string(1000, 'x')}});
  EXPECT_EQ(found(place_of(Launcher::kTorchrun), variables).folder,
            "runs/.rendezvous_torchrun_" + std::string(60, 'x') + "_29500");
}

TEST(RendezvousTest, AMissingAddressIsNamed) {
  EXPECT_EQ(problem(place_of(Launcher::kVariables), {{"MASTER_PORT", "29500"}}),
            std::string("RANK and WORLD_SIZE: rank 1 of 2 has no address of rank 0, as MASTER_ADDR "
                        "is not set") +
                kSetAddress);
  EXPECT_EQ(
      problem(place_of(Launcher::kTorchrun), {{"MASTER_ADDR", "node1"}, {"MASTER_PORT", ""}}),
      std::string("torchrun: rank 1 of 2 has no address of rank 0, as MASTER_PORT is not set") +
          kSetAddress);
}

TEST(RendezvousTest, AWrongPortIsNamed) {
  for (const char* port : {"0", "65536", "-1", "http"}) {
    EXPECT_EQ(problem(place_of(Launcher::kSlurm), joined_with(kSlurm, {{"MASTER_PORT", port}})),
              fmt::format("srun: rank 1 of 2 got \"{}\" as MASTER_PORT, expected a port from 1 to "
                          "65535; correct it{}",
                          port, kOrAlone));
  }
}

TEST(RendezvousTest, ALauncherThatTellsNothingIsNamed) {
  EXPECT_EQ(problem(place_of(Launcher::kMpich), {}),
            std::string("mpiexec (MPICH): rank 1 of 2 has no way to find the others, as neither "
                        "the launcher tells one, nor the variables") +
                kSetAddress);
  EXPECT_EQ(problem(place_of(Launcher::kSlurm), {{"SLURM_STEP_ID", "0"}}),
            std::string("srun: rank 1 of 2 has no way to find the others, as neither the launcher "
                        "tells one, nor the variables") +
                kSetAddress);
}

/// Ranks that meet in a folder of a temporary folder.
struct Meeters {
  test::TemporaryFolder folder;
  Rendezvous rendezvous{Meeting::kFile, "", 0, "", folder.path() / ".rendezvous_test"};
  int64_t size = 3;

  std::string share(int64_t rank, milliseconds timeout = milliseconds(20000)) const {
    return share_text(rendezvous, place_of(Launcher::kSlurm, rank, size), environment_of({}),
                      rank == 0 ? "node1:4711" : "of rank " + std::to_string(rank), timeout);
  }
  std::future<std::string> begin(int64_t rank) const {
    return std::async(std::launch::async, [this, rank] { return share(rank); });
  }
  std::string problem_of(int64_t rank) const {
    return test::message_of(ErrorKind::kDevice, [&] { share(rank, milliseconds(100)); });
  }
  bool has_request_of(int64_t rank) const {
    return fs::exists(rendezvous.folder / std::to_string(rank));
  }
};

void expect_nothing_left(const Meeters& meeters) {
  EXPECT_EQ(test::file_names(meeters.folder.path()), std::vector<std::string>{});
}

TEST(RendezvousTest, RanksThatStartInAnyOrderGetTheTextOfRank0) {
  const std::vector<std::vector<int64_t>> orders = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}};
  for (const std::vector<int64_t>& order : orders) {
    const Meeters meeters;
    std::vector<std::future<std::string>> shared;
    for (const int64_t rank : order) {
      shared.push_back(meeters.begin(rank));
      // A request is the sign that the rank waits.
      while (rank != 0 && !meeters.has_request_of(rank) &&
             shared.back().wait_for(milliseconds(1)) != std::future_status::ready) {
      }
    }
    for (std::future<std::string>& text : shared) EXPECT_EQ(text.get(), "node1:4711");
    expect_nothing_left(meeters);
  }
}

TEST(RendezvousTest, ProcessesMeet) {
  const Meeters meeters;
  const auto is_right = [&](int64_t rank) {
    return [&meeters, rank] { return meeters.share(rank) == "node1:4711" ? 0 : 1; };
  };
  test::Child first(is_right(1));
  test::Child root(is_right(0));
  test::Child second(is_right(2));
  EXPECT_EQ(root.wait(), 0);
  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(second.wait(), 0);
  expect_nothing_left(meeters);
}

// What is shared may be a secret.
TEST(RendezvousTest, NoOtherUserCanLookIntoTheFolder) {
  const Meeters meeters;
  const auto expect_private = [&] {
    std::future<std::string> first = meeters.begin(1);
    while (!meeters.has_request_of(1)) std::this_thread::yield();
    EXPECT_EQ(fs::status(meeters.rendezvous.folder).permissions(), fs::perms::owner_all);
    std::future<std::string> second = meeters.begin(2);
    EXPECT_EQ(meeters.share(0), "node1:4711");
    first.get();
    second.get();
  };
  expect_private();
  fs::create_directory(meeters.rendezvous.folder);  // of a run that was killed, or somebody else
  fs::permissions(meeters.rendezvous.folder, fs::perms::all);
  expect_private();
}

TEST(RendezvousTest, FilesOfAKilledRunAreNotTaken) {
  const Meeters meeters;
  const std::string folder = ".rendezvous_test/";
  meeters.folder.write(folder + "answer", "node0:1\n1 old\n2 old\n");
  meeters.folder.write(folder + "1", "old\n");
  meeters.folder.write(folder + "2", "old\n");
  meeters.folder.write(folder + "7", "old\n");
  meeters.folder.write(folder + ".answer.tmp-1", "node0:1");
  // Rank 0 answers the old requests first, rank 2 sees an old answer.
  std::future<std::string> second = meeters.begin(2);
  std::future<std::string> root = meeters.begin(0);
  while (test::read_file(meeters.rendezvous.folder / "answer").starts_with("1 old\n2 old")) {
  }
  std::future<std::string> first = meeters.begin(1);
  EXPECT_EQ(first.get(), "node1:4711");
  EXPECT_EQ(second.get(), "node1:4711");
  EXPECT_EQ(root.get(), "node1:4711");
  expect_nothing_left(meeters);
}

TEST(RendezvousTest, AFolderThatIsRemovedComesBack) {
  const Meeters meeters;
  std::future<std::string> first = meeters.begin(1);
  while (!meeters.has_request_of(1)) std::this_thread::yield();
  fs::remove_all(meeters.rendezvous.folder);  // by rank 0 of a run that was just killed
  std::future<std::string> second = meeters.begin(2);
  EXPECT_EQ(meeters.share(0), "node1:4711");
  EXPECT_EQ(first.get(), "node1:4711");
  EXPECT_EQ(second.get(), "node1:4711");
  expect_nothing_left(meeters);
}

TEST(RendezvousTest, ARankThatNeverComesIsNamed) {
  Meeters meeters;
  const auto expected = [&](const char* whom, int64_t rank) {
    return fmt::format("srun: rank {} of {} waited 0.1 s for {} in {}{}", rank, meeters.size, whom,
                       meeters.rendezvous.folder.string(), kShareFolder);
  };
  EXPECT_EQ(meeters.problem_of(0), expected("ranks 1 and 2", 0));
  expect_nothing_left(meeters);
  EXPECT_EQ(meeters.problem_of(2), expected("rank 0", 2));
  expect_nothing_left(meeters);
  meeters.size = 9;
  EXPECT_EQ(meeters.problem_of(0), expected("ranks 1, 2, 3, 4, 5 and 3 others", 0));
  meeters.size = 2;
  EXPECT_EQ(meeters.problem_of(0), expected("rank 1", 0));
}

TEST(RendezvousTest, AFolderThatCannotBeMadeIsNamed) {
  Meeters meeters;
  meeters.rendezvous.folder = meeters.folder.write("file", "") / ".rendezvous_test";
  EXPECT_EQ(test::message_of(ErrorKind::kFileSystem, [&] { meeters.share(1); }),
            "cannot create " + meeters.rendezvous.folder.string() + ": Not a directory");
}

TEST(RendezvousTest, ARankAloneHasNothingToShare) {
  Meeters meeters;
  meeters.size = 1;
  EXPECT_EQ(meeters.share(0), "node1:4711");
  expect_nothing_left(meeters);
}

TEST(RendezvousTest, TextThatIsTooLongOrNoLineIsRefused) {
  const Place place = place_of(Launcher::kSlurm, 0, 1);
  const auto share = [&](const std::string& text) {
    return share_text({}, place, environment_of({}), text, milliseconds(100));
  };
  EXPECT_EQ(share(std::string(kMaxSharedText, 'x')), std::string(kMaxSharedText, 'x'));
  EXPECT_EQ(test::message_of(ErrorKind::kDevice, [&] { share("a\nb"); }),
            std::string("srun: rank 0 of 1 cannot tell the others \"a\\nb\" of 3 bytes, expected "
                        "one line of at most 384 bytes; choose a shorter path") +
                kOrAlone);
  EXPECT_EQ(test::message_of(ErrorKind::kDevice, [&] { share(std::string(385, 'x')); }),
            fmt::format("srun: rank 0 of 1 cannot tell the others \"{}...\" of 385 bytes, expected "
                        "one line of at most 384 bytes; choose a shorter path{}",
                        std::string(60, 'x'), kOrAlone));
}

/// A launcher that reads one request after the other and answers as told.
class FakeLauncher {
 public:
  /// Of each request: what is sent back. At the end it closes.
  explicit FakeLauncher(std::vector<std::string> answers) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets_.data()) != 0) {
      throw std::runtime_error("cannot make a pair of sockets");
    }
    thread_ = std::thread([this, answers = std::move(answers)] { serve(answers); });
  }
  ~FakeLauncher() {
    close(sockets_[0]);
    if (thread_.joinable()) thread_.join();
  }
  FakeLauncher(const FakeLauncher&) = delete;
  FakeLauncher& operator=(const FakeLauncher&) = delete;

  std::string descriptor() const { return std::to_string(sockets_[0]); }
  /// After the last answer.
  std::vector<std::string> requests() {
    thread_.join();
    return requests_;
  }

 private:
  void serve(const std::vector<std::string>& answers) {
    std::array<char, 4096> buffer{};
    for (const std::string& answer : answers) {
      const ssize_t size = read(sockets_[1], buffer.data(), buffer.size());
      if (size <= 0) break;
      requests_.emplace_back(buffer.data(), static_cast<size_t>(size));
      // In two parts, as a stream may come.
      const size_t half = answer.size() / 2;
      if (write(sockets_[1], answer.data(), half) < 0) break;
      if (write(sockets_[1], answer.data() + half, answer.size() - half) < 0) break;
    }
    close(sockets_[1]);
  }

  std::array<int, 2> sockets_{};
  std::vector<std::string> requests_;
  std::thread thread_;
};

std::string share_by(Meeting meeting, int64_t rank, const std::string& descriptor,
                     milliseconds timeout = milliseconds(20000)) {
  const Rendezvous rendezvous{meeting, "", 0, "", ""};
  const Launcher launcher = meeting == Meeting::kPmi1 ? Launcher::kMpich : Launcher::kSlurm;
  return share_text(rendezvous, place_of(launcher, rank, 3),
                    environment_of({{"PMI_FD", descriptor}, {"PMI_JOBID", "3.0"}}),
                    rank == 0 ? "a b;\xff" : "", timeout);
}

// "a b;\xff"
constexpr const char* kHex = "6120623bff";

const std::vector<std::string> kPmi1Answers = {
    "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
    "cmd=my_kvsname kvsname=kvs_1_0\n", "cmd=barrier_out\n",
    std::string("cmd=get_result rc=0 msg=success value=") + kHex + "\n", "cmd=finalize_ack\n"};

std::vector<std::string> first_of(const std::vector<std::string>& answers, size_t count) {
  return {answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(count)};
}

TEST(RendezvousTest, Pmi1Shares) {
  FakeLauncher other(kPmi1Answers);
  EXPECT_EQ(share_by(Meeting::kPmi1, 1, other.descriptor()), "a b;\xff");
  EXPECT_EQ(other.requests(),
            (std::vector<std::string>{"cmd=init pmi_version=1 pmi_subversion=1\n",
                                      "cmd=get_my_kvsname\n", "cmd=barrier_in\n",
                                      "cmd=get kvsname=kvs_1_0 key=trainer\n", "cmd=finalize\n"}));

  std::vector<std::string> answers = kPmi1Answers;
  answers.insert(answers.begin() + 2, "cmd=put_result rc=0 msg=success\n");
  FakeLauncher root(answers);
  EXPECT_EQ(share_by(Meeting::kPmi1, 0, root.descriptor()), "a b;\xff");
  EXPECT_EQ(root.requests()[2],
            std::string("cmd=put kvsname=kvs_1_0 key=trainer value=") + kHex + "\n");
}

constexpr const char* kLost =
    "; set MASTER_ADDR and MASTER_PORT to an address of rank 0 instead, or set "
    "distributed.enabled=off to run by itself";

std::string pmi_problem(Meeting meeting, const std::string& descriptor,
                        milliseconds timeout = milliseconds(20000)) {
  return test::message_of(ErrorKind::kDevice, [&] { share_by(meeting, 1, descriptor, timeout); });
}

TEST(RendezvousTest, ALauncherThatClosesIsLost) {
  FakeLauncher launcher(first_of(kPmi1Answers, 2));
  EXPECT_EQ(pmi_problem(Meeting::kPmi1, launcher.descriptor()),
            test::replaced(std::string("mpiexec (MPICH): rank 1 of 3 lost the launcher at "
                                       "barrier_in of PMI-1: PMI_FD N: closed") +
                               kLost,
                           "FD N", "FD " + launcher.descriptor()));
}

TEST(RendezvousTest, ALauncherThatIsNotThereIsLost) {
  EXPECT_EQ(pmi_problem(Meeting::kPmi1, "100000"),
            std::string("mpiexec (MPICH): rank 1 of 3 lost the launcher at init of PMI-1: PMI_FD "
                        "100000: Bad file descriptor") +
                kLost);
  for (const char* text : {"", "-1", "four", "4294967296"}) {
    EXPECT_EQ(pmi_problem(Meeting::kPmi1, text),
              fmt::format("mpiexec (MPICH): rank 1 of 3 got \"{}\" as PMI_FD, expected the number "
                          "of an open file{}",
                          text, kSetAddress));
  }
}

TEST(RendezvousTest, ALauncherThatDoesNotAnswerIsWaitedForNoLonger) {
  std::vector<std::string> answers = first_of(kPmi1Answers, 3);
  answers[2] = "cmd=barrier";  // the rest never comes
  answers.emplace_back("never asked for");
  FakeLauncher launcher(answers);
  EXPECT_EQ(pmi_problem(Meeting::kPmi1, launcher.descriptor(), milliseconds(100)),
            std::string("mpiexec (MPICH): rank 1 of 3 waited 0.1 s for the launcher's answer to "
                        "barrier_in of PMI-1; make sure that all ranks start") +
                kOrAlone);
}

TEST(RendezvousTest, ALauncherThatRefusesIsQuoted) {
  const auto expect = [](const std::string& answer, const char* request) {
    std::vector<std::string> answers = kPmi1Answers;
    answers[request == std::string("init") ? 0 : 3] = answer + "\n";
    FakeLauncher launcher(answers);
    EXPECT_EQ(pmi_problem(Meeting::kPmi1, launcher.descriptor()),
              fmt::format("mpiexec (MPICH): rank 1 of 3 got \"{}\" from the launcher to {} of "
                          "PMI-1{}",
                          answer, request, kLost));
  };
  expect("cmd=response_to_init rc=-1", "init");
  expect("cmd=finalize_ack", "init");
  expect("", "init");
  expect("cmd=get_result rc=-1 value=unknown", "get");
  expect("cmd=get_result rc=0 value=612", "get");
  expect("cmd=get_result rc=0 value=6x", "get");
}

// As Slurm 22.05 was seen to answer.
std::string pmi2(const std::string& body) { return fmt::format("{:<6}{}", body.size(), body); }

const std::vector<std::string> kPmi2Answers = {
    "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n",
    pmi2("cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=1;size=3;appnum=-1;"),
    pmi2("cmd=kvs-fence-response;rc=0;"),
    pmi2(std::string("cmd=kvs-get-response;rc=0;found=TRUE;value=") + kHex + ";"),
    pmi2("cmd=finalize-response;rc=0;")};

TEST(RendezvousTest, Pmi2Shares) {
  FakeLauncher other(kPmi2Answers);
  EXPECT_EQ(share_by(Meeting::kPmi2, 1, other.descriptor()), "a b;\xff");
  EXPECT_EQ(other.requests(),
            (std::vector<std::string>{
                "cmd=init pmi_version=2 pmi_subversion=0\n",
                "    51cmd=fullinit;pmijobid=3.0;pmirank=1;threaded=FALSE;", "    14cmd=kvs-fence;",
                "    43cmd=kvs-get;jobid=3.0;srcid=-1;key=trainer;", "    13cmd=finalize;"}));

  std::vector<std::string> answers = kPmi2Answers;
  answers.insert(answers.begin() + 2, pmi2("cmd=kvs-put-response;rc=0;"));
  FakeLauncher root(answers);
  EXPECT_EQ(share_by(Meeting::kPmi2, 0, root.descriptor()), "a b;\xff");
  EXPECT_EQ(root.requests()[2], std::string("    41cmd=kvs-put;key=trainer;value=") + kHex + ";");
}

TEST(RendezvousTest, FaultsOfPmi2AreNamed) {
  const auto problem_with = [](size_t index, const std::string& answer) {
    std::vector<std::string> answers = kPmi2Answers;
    answers[index] = answer;
    FakeLauncher launcher(answers);
    return pmi_problem(Meeting::kPmi2, launcher.descriptor());
  };
  const auto expected = [](const char* answer, const char* request) {
    return fmt::format("srun: rank 1 of 3 got \"{}\" from the launcher to {} of PMI-2{}", answer,
                       request, kLost);
  };
  EXPECT_EQ(problem_with(1, pmi2("cmd=fullinit-response;rc=14;")),
            expected("cmd=fullinit-response;rc=14;", "fullinit"));
  EXPECT_EQ(problem_with(2, "no length"), expected("no len", "kvs-fence"));
  EXPECT_EQ(problem_with(3, pmi2("cmd=kvs-get-response;rc=0;found=FALSE;")),
            expected("cmd=kvs-get-response;rc=0;found=FALSE;", "kvs-get"));
}

}  // namespace
}  // namespace trainer::launch
