# cmake -DOUTPUT=FILE -DINPUTS=FILE|... -P: writes the inputs as rows of an
# array, {"NAME", "TEXT"}, into the output.
string(REPLACE "|" ";" inputs "${INPUTS}")
set(all "")
foreach(input IN LISTS inputs)
  cmake_path(GET input FILENAME name)
  file(READ "${input}" text)
  string(APPEND all "{\"${name}\", R\"gt-text(${text})gt-text\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "${all}")
