// The pieces of the scalar prelude; scalar.cpp puts them together. Each is C that CUDA accepts too.
#pragma once

#include <string>

namespace lumen::scalar_text {

extern const char* const kHeadC;
extern const char* const kHeadCuda;
extern const char* const kLanes;
extern const char* const kBasic;
extern const char* const kExponential;
extern const char* const kLogarithm;
extern const char* const kSine;
extern const char* const kTanh;
extern const char* const kArcTangent;
extern const char* const kErf;
extern const char* const kRoughC;
extern const char* const kRoughCuda;
extern const char* const kRough;
extern const char* const kNarrowFloats;

std::string integers();  // arithmetic in each of the four widths
std::string storage();   // load, store and wrap of every dtype
std::string sorting();   // keys of floats, stable sorts of keys

}  // namespace lumen::scalar_text
