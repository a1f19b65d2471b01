// Visibility of the shared library: everything is hidden but what carries SPLITCOUNT_EXPORT.
#pragma once

#define SPLITCOUNT_EXPORT __attribute__((visibility("default")))
