// Prints what a pipeline does: verifies the file once, then reads it in place.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "station/pipeline/verifier.h"
#include "station/pipeline/views.h"

namespace {

namespace pipeline = station::pipeline;

/// Says in a line what a step or a sink is: one overload for each member of the unions.
class Describe {
 public:
  void operator()(pipeline::Sensor sensor) const {
    std::printf("sensor on channel %u in %.*s, %g a second", sensor.channel(),
                length(symbol(sensor.unit())), symbol(sensor.unit()).data(),
                static_cast<double>(sensor.rate()));
    if (!sensor.has_calibration()) return;
    std::printf(", calibrated:");
    for (const double coefficient : sensor.calibration().coefficients()) {
      std::printf(" %g", coefficient);
    }
  }
  void operator()(pipeline::Average average) const {
    std::printf("mean of %u values", average.window());
  }
  void operator()(pipeline::Limit limit) const {
    std::printf("limits %g to %g", limit.allowed().low(), limit.allowed().high());
    if (limit.hysteresis()) std::printf(", hysteresis %g", *limit.hysteresis());
  }
  void operator()(pipeline::Blend blend) const {
    std::printf("blend by %zu weights", blend.weights().size());
  }
  void operator()(pipeline::File file) const {
    std::printf("file %.*s", length(file.path()), file.path().data());
  }
  void operator()(pipeline::Socket socket) const {
    std::printf("socket %.*s:%u", length(socket.host()), socket.host().data(), socket.port());
  }
  void operator()(pipeline::Position place) const {
    std::printf("place %g, %g", place.latitude(), place.longitude());
  }
  void operator()(std::string_view note) const {
    std::printf("note \"%.*s\"", length(note), note.data());
  }
  void operator()(station::AbsentUnion) const { std::printf("nothing"); }
  void operator()(station::UnknownUnionMember) const { std::printf("something newer"); }

 private:
  static int length(std::string_view text) { return static_cast<int>(text.size()); }
};

void print(pipeline::Pipeline document) {
  for (const pipeline::Node node : document.nodes()) {
    const std::string name(node.name());
    std::printf("%s: ", name.c_str());
    node.visit_step(Describe{});
    for (const std::string_view input : node.inputs()) {
      std::printf(" < %s", std::string(input).c_str());
    }
    std::printf("\n");
  }
  for (std::size_t i = 0; i < document.sinks_type().size(); ++i) {
    std::printf("to ");
    document.visit_sinks(i, Describe{});
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: station-report FILE\n");
    return 2;
  }
  std::ifstream stream(argv[1], std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(stream), {}};
  const station::Bytes bytes(file.data(), file.size());

  const station::VerifyResult result = pipeline::verify_pipeline(bytes);
  if (!result) {
    char message[256];
    station::describe(result, message, sizeof message);
    const std::string path(result.path());
    std::fprintf(stderr, "%s: %s: %s\n", argv[1], path.c_str(), message);
    return 1;
  }
  print(pipeline::view_pipeline(bytes));
}
