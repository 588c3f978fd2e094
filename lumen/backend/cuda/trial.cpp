#include "lumen/backend/cuda/trial.h"

namespace lumen::cuda {

std::string encode(const WorkerHello& hello) {
  MessageWriter out;
  out.number(hello.protocol);
  out.number(hello.device);
  out.number(hello.idle_milliseconds);
  out.number(hello.driver.size());
  for (const std::string& name : hello.driver) out.text(name);
  return out.bytes();
}

Expected<WorkerHello> decode_hello(std::string_view bytes) {
  MessageReader in(bytes);
  WorkerHello hello;
  hello.protocol = LUMEN_TRY(in.number());
  if (hello.protocol != kWorkerProtocol) return error("[cuda] the worker is of another version of Lumen");
  hello.device = LUMEN_TRY(in.number());
  hello.idle_milliseconds = LUMEN_TRY(in.number());
  const size_t count = LUMEN_TRY(in.count());
  for (size_t k = 0; k < count; ++k) hello.driver.emplace_back(LUMEN_TRY(in.text()));
  return hello;
}

std::string encode(const Trial& trial) {
  MessageWriter out;
  out.number(trial.forget ? 1 : 0);
  out.number(trial.objects.size());
  for (const TrialObject& object : trial.objects) {
    out.text(object.key);
    out.text(object.bytes);
  }
  out.number(trial.regions.size());
  for (const TrialRegion& region : trial.regions) {
    out.number(region.bytes);
    out.text(region.content);
  }
  out.number(trial.launches.size());
  for (const TrialLaunch& launch : trial.launches) {
    out.number(launch.object);
    out.text(launch.function);
    for (const uint64_t size : {launch.blocks, launch.threads, launch.shared}) out.number(size);
    out.number(launch.arguments.size());
    for (const uint64_t word : launch.arguments) out.number(word);
    out.number(launch.addresses.size());
    for (const TrialAddress& address : launch.addresses) {
      for (const uint64_t value : {address.word, address.region, address.offset}) out.number(value);
    }
  }
  return out.bytes();
}

namespace {

Expected<TrialLaunch> decode_launch(MessageReader& in, const Trial& trial) {
  TrialLaunch launch;
  launch.object = LUMEN_TRY(in.number());
  launch.function = LUMEN_TRY(in.text());
  for (uint64_t* const size : {&launch.blocks, &launch.threads, &launch.shared}) *size = LUMEN_TRY(in.number());
  const size_t words = LUMEN_TRY(in.count());
  for (size_t k = 0; k < words; ++k) launch.arguments.push_back(LUMEN_TRY(in.number()));
  const size_t addresses = LUMEN_TRY(in.count());
  bool fits = launch.object < trial.objects.size();
  for (size_t k = 0; k < addresses; ++k) {
    TrialAddress address;
    for (uint64_t* const value : {&address.word, &address.region, &address.offset}) *value = LUMEN_TRY(in.number());
    fits = fits && address.word < words && address.region < trial.regions.size();
    launch.addresses.push_back(address);
  }
  if (!fits) return error("[cuda] a launch of a trial names what the trial does not have");
  return launch;
}

}  // namespace

Expected<Trial> decode_trial(std::string_view bytes) {
  MessageReader in(bytes);
  Trial trial;
  trial.forget = LUMEN_TRY(in.number()) != 0;
  const size_t objects = LUMEN_TRY(in.count());
  for (size_t k = 0; k < objects; ++k) {
    TrialObject object;
    object.key = LUMEN_TRY(in.text());
    object.bytes = LUMEN_TRY(in.text());
    trial.objects.push_back(std::move(object));
  }
  const size_t regions = LUMEN_TRY(in.count());
  for (size_t k = 0; k < regions; ++k) {
    TrialRegion region;
    region.bytes = LUMEN_TRY(in.number());
    region.content = LUMEN_TRY(in.text());
    trial.regions.push_back(std::move(region));
  }
  const size_t launches = LUMEN_TRY(in.count());
  for (size_t k = 0; k < launches; ++k) trial.launches.push_back(LUMEN_TRY(decode_launch(in, trial)));
  return trial;
}

std::string encode(const TrialAnswer& answer) {
  MessageWriter out;
  out.number(static_cast<uint64_t>(answer.state));
  out.text(answer.why);
  return out.bytes();
}

Expected<TrialAnswer> decode_answer(std::string_view bytes) {
  MessageReader in(bytes);
  const uint64_t state = LUMEN_TRY(in.number());
  if (state > static_cast<uint64_t>(TrialAnswer::State::not_tried)) return error("[cuda] an answer of no kind");
  TrialAnswer answer;
  answer.state = static_cast<TrialAnswer::State>(state);
  answer.why = LUMEN_TRY(in.text());
  return answer;
}

}  // namespace lumen::cuda
