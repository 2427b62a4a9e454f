# A formula of Homebrew, for a tap. scripts/packaging/fill.sh fills in where a release is, and its checksum.
class Trainer < Formula
  desc "Train, evaluate, apply and export multilayer perceptrons on tables"
  homepage "@URL@"
  url "@URL@/trainer-@VERSION@.tar.gz"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "cli11" => :build
  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "fmt"
  depends_on "libomp"
  depends_on "nlohmann-json"
  depends_on "onnx"
  depends_on "pytorch"
  depends_on "spdlog"
  depends_on "yaml-cpp"
  depends_on "zstd"
  uses_from_macos "sqlite"
  uses_from_macos "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", *std_cmake_args,
           "-DTRAINER_BENCH=OFF", "-DTRAINER_TESTS=OFF"
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/trainer --version")
    system bin/"trainer", "--config", pkgshare/"configs/penguins.yaml", "--epochs", "2"
    system bin/"trainer", "predict", pkgshare/"configs/data/penguins.csv", "--output", "predictions.csv"
    assert_path_exists testpath/"predictions.csv"
  end
end
