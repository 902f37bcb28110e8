# cmake -DOUTPUT=FILE -DINPUTS=FILE|... -P writes the inputs into the output, as
# rows {"NAME", "TEXT"} of an array.
string(REPLACE "|" ";" inputs "${INPUTS}")
set(all "")
foreach(input IN LISTS inputs)
  cmake_path(GET input FILENAME name)
  file(READ "${input}" text)
  string(APPEND all "{\"${name}\", R\"gt-text(${text})gt-text\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "${all}")
