// attack reduction: WRONG, at most 0 points
// leaves messages for the next submission, in every kind of shared memory
#include <fcntl.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  const int posix = shm_open("/stepwise-attack", O_RDWR | O_CREAT, 0600);
  if (posix >= 0 && ftruncate(posix, 4096) == 0) close(posix);
  shmget(0x57e9, 4096, IPC_CREAT | 0600);
  close(open("/dev/shm/stepwise-attack", O_RDWR | O_CREAT, 0600));
  close(open("/var/tmp/stepwise-attack", O_RDWR | O_CREAT, 0600));
}
