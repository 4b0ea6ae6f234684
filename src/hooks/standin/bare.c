// A statically linked program without any runtime.
#include <stdio.h>
int main(void) {
  puts("bare");
  return 0;
}
