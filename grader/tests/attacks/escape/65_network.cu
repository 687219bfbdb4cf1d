// attack reduction: WRONG, at most 0 points
// asks this machine's services, over every kind of socket
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  for (const int family :
       {AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, 38 /* AF_ALG */, 40 /* AF_VSOCK */}) {
    const int s = socket(family, family == AF_NETLINK ? SOCK_RAW : SOCK_STREAM, 0);
    if (s < 0) continue;
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_port = htons(22);
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (family == AF_INET && connect(s, reinterpret_cast<sockaddr*>(&here), sizeof here) == 0) {
      std::puts("stepwise-attack: connected");
    } else {
      std::puts("stepwise-attack: a socket");
    }
    close(s);
  }
}
