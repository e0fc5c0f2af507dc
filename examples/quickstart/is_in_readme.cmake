# Fails unless README holds the whole of PROGRAM as a block of C++.
file(READ "${PROGRAM}" program)
file(READ "${README}" readme)
string(FIND "${readme}" "```cpp\n${program}```\n" at)
if(at EQUAL -1)
  message(FATAL_ERROR "the C++ example in ${README} is not ${PROGRAM}: copy the file into the block")
endif()
