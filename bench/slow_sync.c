// Makes every sync take as much longer as SLOW_SYNC_US says, in microseconds: a disk with a slower promise. To be
// preloaded into a database server.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static int slowed(const char* name, int descriptor) {
  static useconds_t more_us;
  if (more_us == 0) {
    const char* given = getenv("SLOW_SYNC_US");
    more_us = given == NULL ? 1000 : (useconds_t)atoi(given);
  }
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  usleep(more_us);
  return real(descriptor);
}

int fsync(int descriptor) { return slowed("fsync", descriptor); }
int fdatasync(int descriptor) { return slowed("fdatasync", descriptor); }
