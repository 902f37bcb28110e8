// Modules: gt::nn. See gt/module.h, gt/layers.h, gt/losses.h,
// gt/transformer.h and gt/experts.h.
#pragma once

#include <gt/experts.h>
#include <gt/layers.h>
#include <gt/losses.h>
#include <gt/module.h>
#include <gt/transformer.h>
