// The whole public interface.
#pragma once

#include <splitcount/add.h>
#include <splitcount/combiner.h>
#include <splitcount/database.h>
#include <splitcount/error.h>
#include <splitcount/rule.h>
#include <splitcount/version.h>
