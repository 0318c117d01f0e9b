// Checks Result, Error and Device; prints each check that fails, and returns how many did.
#include <cstdio>
#include <memory>
#include <string>
#include <type_traits>

#include "placewire/runtime/device.h"
#include "placewire/runtime/result.h"

namespace {

using placewire::Device;
using placewire::DeviceType;
using placewire::Error;
using placewire::ErrorCode;
using placewire::parse_device;
using placewire::Result;

int failures = 0;

void check(bool condition, const char* what) {
  if (!condition) {
    std::printf("failed: %s\n", what);
    ++failures;
  }
}

Result<std::unique_ptr<int>> boxed(int value) {
  if (value < 0) {
    return Error{ErrorCode::INVALID_ARGUMENT, "negative"};
  }
  return std::make_unique<int>(value);
}

void check_result() {
  const auto sound = boxed(7);
  check(sound.ok() && sound, "a value is ok");
  check(*sound.value() == 7, "a value can be read");
  check(*boxed(8).value() == 8, "a value that cannot be copied can be moved out");
  const auto failed = boxed(-1);
  check(!failed.ok() && !failed, "an error is not ok");
  check(failed.error().code == ErrorCode::INVALID_ARGUMENT, "an error has its code");
  check(failed.error().message == "negative", "an error has its message");
  check(std::string(boxed(-1).error().message) == "negative", "an error can be moved out");
  Result<std::string> text(std::string("a"));
  text.value() += "b";
  check(text.value() == "ab", "a value can be changed");
}

void check_device() {
  check(Device{} == Device{DeviceType::CPU, 0}, "the default device is cpu:0");
  check(Device{}.is_cpu(), "the default device is the CPU");
  check(Device{DeviceType::CUDA, 0} != Device{DeviceType::CUDA, 1}, "indices tell GPUs apart");
  check(Device{DeviceType::CUDA, 0} != Device{}, "kinds tell devices apart");
  check(Device{DeviceType::CPU, 1} != Device{}, "cpu:1 is not cpu:0");
  check(share_memory(Device{DeviceType::CPU, 1}, Device{}), "all CPUs share the host's memory");
  check(!share_memory(Device{DeviceType::CUDA, 1}, Device{DeviceType::CUDA, 0}),
        "GPUs do not share memory");
  check(parse_device("cpu:1").value() == Device{DeviceType::CPU, 1}, "a CPU may have an index");
  check(!parse_device(" cuda").ok() && !parse_device("cuda:0 ").ok(), "blanks are refused");
  check(to_string(Device{DeviceType::CUDA, 127}) == "cuda:127", "a device is spelled");
  check(to_string(Device{static_cast<DeviceType>(7), -1}) == "7:-1", "an unknown kind is a number");
  check(parse_device("CUDA:127").value() == Device{DeviceType::CUDA, 127}, "case does not matter");
  check(parse_device("cuda").value() == Device{DeviceType::CUDA, 0}, "0 is the default index");
  const auto wrong = parse_device("cuda:-1");
  check(wrong.error().code == ErrorCode::INVALID_ARGUMENT, "a text that is no device is an error");
  check(wrong.error().message ==
            "\"cuda:-1\" is not a device; valid is cpu or cuda, with an index 0 to 127 if wanted, "
            "as in cuda:0",
        "the message shows the text and what is valid");
}

static_assert(std::is_trivially_copyable_v<Device> && sizeof(Device) == 2);
static_assert(std::is_nothrow_move_constructible_v<Result<std::string>>);

}  // namespace

int main() {
  check_result();
  check_device();
  return failures;
}
