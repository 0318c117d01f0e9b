// Loads and executes many damaged copies of real files; the same arguments do the same.
//
//     mutate_execution COUNT SEED FILE...
//
// First every file is executed as it is, and what comes of each of its methods is printed.
//
// The core's own kernels run as they are, everything else is stood in for (stand_ins.h). Devices
// are simulated, so that a host access to device memory ends the process. Most damage is done to
// the program, for that is what the runtime believes; what the validator refuses is not executed.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "check.h"
#include "mutate.h"
#include "placewire/runtime/method.h"
#include "placewire/runtime/program.h"
#include "placewire/runtime/simulated_device.h"
#include "placewire/runtime/tensor_ptr.h"
#include "stand_ins.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace {

using namespace placewire;
using tests::Random;
using tests::require;

using Bytes = std::vector<std::uint8_t>;

/// Larger inputs are not made.
constexpr std::size_t kLargestInput = std::size_t{1} << 20;
/// All the memory of a simulated device.
constexpr std::size_t kDeviceMemory = std::size_t{1} << 24;

struct File {
  Bytes bytes;
  /// Size of the program at its head.
  std::size_t program_size;
};

/// The copy that is being tried.
schema::Bytes current;

#if defined(__SANITIZE_ADDRESS__)
/// Called by the sanitizer when it ends the process.
void keep_current() {
  std::ofstream("damaged.pte", std::ios::binary)
      .write(reinterpret_cast<const char*>(current.data()),
             static_cast<std::streamsize>(current.size()));
}
#endif

/// How far the copies came.
struct Outcome {
  std::uint64_t loaded = 0;
  std::uint64_t methods = 0;
  std::uint64_t executed = 0;
};

File read_file(const char* path) {
  std::ifstream stream(path, std::ios::binary);
  File file{{std::istreambuf_iterator<char>(stream), {}}, 0};
  file.program_size = file.bytes.size();
  if (file.bytes.size() >= 24 && std::memcmp(file.bytes.data() + 8, "eh00", 4) == 0) {
    std::uint64_t size = 0;
    std::memcpy(&size, file.bytes.data() + 16, sizeof size);
    file.program_size = std::min<std::size_t>(size, file.bytes.size());
  }
  return file;
}

/// A damaged copy, in memory of exactly its size.
OwnedBytes damaged(const File& file, Random& random) {
  Bytes copy = file.bytes;
  const std::size_t reach = random.below(8) == 0 ? copy.size() : file.program_size;
  for (std::uint64_t changes = 1 + random.below(3); changes != 0; --changes) {
    tests::change(copy.data(), reach, random);
  }
  const std::shared_ptr<std::uint8_t[]> exact(new std::uint8_t[copy.size()]);
  std::copy(copy.begin(), copy.end(), exact.get());
  return {schema::Bytes(exact.get(), copy.size()), exact};
}

/// An input as a method wants it. What it cannot be is left to `set_input`.
Status set_input(Method& method, std::size_t index, Random& random,
                 std::vector<TensorPtr>& owners) {
  const Result<ValueMeta> meta = method.meta().input(index);
  if (!meta.ok()) {
    return meta.error();
  }
  if (!meta.value().tensor) {
    const Result<const EValue*> value = method.input(index);
    return value.ok() ? method.set_input(index, *value.value()) : Status(value.error());
  }
  const TensorMeta& wanted = *meta.value().tensor;
  std::vector<std::int64_t> sizes = wanted.sizes;
  double nbytes = 16;
  for (std::int64_t& size : sizes) {
    if (wanted.dynamism != TensorShapeDynamism::STATIC && size > 0) {
      size -= static_cast<std::int64_t>(random.below(2));
    }
    nbytes *= static_cast<double>(std::max<std::int64_t>(size, 1));
  }
  if (nbytes > kLargestInput) {
    return Error{ErrorCode::OUT_OF_RESOURCES, "an input that is too large to try"};
  }
  Result<TensorPtr> tensor =
      empty_tensor_ptr(sizes, wanted.scalar_type, wanted.device, wanted.dim_order, wanted.dynamism);
  if (!tensor.ok()) {
    return tensor.error();
  }
  owners.push_back(std::move(tensor).value());
  return method.set_input(index, owners.back().get());
}

/// Executes a method with new inputs, and reads its outputs.
Status execute(Method& method, Random& random) {
  std::vector<TensorPtr> owners;
  for (std::size_t i = 0; i < method.meta().input_count(); ++i) {
    if (Status status = set_input(method, i, random, owners); !status.ok()) {
      return status;
    }
  }
  tests::calls_run = 0;
  Status status = method.execute();
  if (status.ok()) {
    for (std::size_t i = 0; i < method.meta().output_count(); ++i) {
      const Result<const EValue*> output = method.output(i);
      require(output.ok(), "an output is not there");
      (void)tests::each_tensor(*output.value(), tests::read);
    }
  }
  return status;
}

/// Loads a file, then loads and executes each of its methods, and calls `report` with what came of
/// the program or the method.
template <typename Report>
void try_file(const OwnedBytes& file, const MethodOptions& options, Random& random,
              Outcome& outcome, Report report) {
  current = file.bytes;
  const Result<std::shared_ptr<const Program>> program = Program::load(file);
  if (!program.ok()) {
    report(Status(program.error()));
    return;
  }
  ++outcome.loaded;
  for (const std::string_view name : program.value()->method_names()) {
    const Result<std::unique_ptr<Method>> method = Method::load(program.value(), name, options);
    if (!method.ok()) {
      report(Status(method.error()));
      continue;
    }
    ++outcome.methods;
    const Status status = execute(*method.value(), random);
    outcome.executed += status.ok() ? 1u : 0u;
    report(status);
    report(execute(*method.value(), random));
  }
}

/// The backends that the files ask for.
std::vector<std::shared_ptr<Backend>> backends_of(const std::vector<File>& files) {
  std::set<std::string> ids;
  for (const File& file : files) {
    const auto program = Program::load({schema::Bytes(file.bytes.data(), file.bytes.size()), {}});
    if (!program.ok()) {
      continue;
    }
    for (const std::string_view name : program.value()->method_names()) {
      for (const std::string_view id : program.value()->method_meta(name).value().backends()) {
        ids.emplace(id);
      }
    }
  }
  std::vector<std::shared_ptr<Backend>> backends;
  for (const std::string& id : ids) {
    backends.push_back(std::make_shared<tests::AnyBackend>(id));
  }
  return backends;
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count < 4) {
    std::fputs("usage: mutate_execution COUNT SEED FILE...\n", stderr);
    return 2;
  }
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(keep_current);
#endif
  const std::uint64_t count = std::strtoull(arguments[1], nullptr, 10);
  Random random(std::strtoull(arguments[2], nullptr, 10));
  std::vector<File> files;
  for (int i = 3; i < argument_count; ++i) {
    files.push_back(read_file(arguments[i]));
  }
  std::vector<std::shared_ptr<SimulatedDevice>> devices;
  std::vector<ScopedAllocator> scopes;
  for (const DeviceIndex index : {DeviceIndex{0}, DeviceIndex{1}}) {
    const Device device{DeviceType::CUDA, index};
    devices.push_back(std::make_shared<SimulatedDevice>(device, kDeviceMemory));
    scopes.push_back(ScopedAllocator::install(devices.back(), index).value());
  }
  MethodOptions options;
  options.backends = backends_of(files);
  options.kernel_sources = {std::make_shared<tests::AnyKernelSource>()};
  Outcome whole;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const OwnedBytes file{schema::Bytes(files[i].bytes.data(), files[i].bytes.size()), {}};
    try_file(file, options, random, whole, [&](const Status& status) {
      std::printf("%s: %s\n", arguments[i + 3],
                  status.ok() ? "executed" : status.error().message.c_str());
    });
  }
  Outcome outcome;
  for (std::uint64_t i = 0; i < count; ++i) {
    options.prepare = random.below(2) == 0;
    // Nothing may come of it but success or an error with a text.
    try_file(damaged(files[i % files.size()], random), options, random, outcome,
             [](const Status& status) {
               require(status.ok() || !status.error().message.empty(), "an error without a text");
             });
    for (const auto& device : devices) {
      require(device->live_allocations() == 0, "device memory was not freed");
    }
  }
  std::printf("%llu tried, %llu loaded, %llu methods loaded, %llu executed to the end\n",
              static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(outcome.loaded),
              static_cast<unsigned long long>(outcome.methods),
              static_cast<unsigned long long>(outcome.executed));
}
