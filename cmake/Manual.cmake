# Manual page and shell completion, written by the program itself and by tools/make_manual from its --help.
set(manual_dir ${CMAKE_BINARY_DIR}/generated/manual)
file(MAKE_DIRECTORY ${manual_dir})
set(written)
foreach(shell bash zsh fish)
  add_custom_command(OUTPUT ${manual_dir}/aaco.${shell} 
    COMMAND sh -c "\"$0\" completion \"$1\" >\"$2\"" $<TARGET_FILE:aaco> ${shell} ${manual_dir}/aaco.${shell} DEPENDS aaco VERBATIM)
  list(APPEND written ${manual_dir}/aaco.${shell})
endforeach()
find_program(AACO_PYTHON python3)
if(AACO_PYTHON)
  add_custom_command(OUTPUT ${manual_dir}/aaco.1
    COMMAND ${AACO_PYTHON} ${PROJECT_SOURCE_DIR}/tools/make_manual $<TARGET_FILE:aaco> ${manual_dir}/aaco.1
    DEPENDS aaco ${PROJECT_SOURCE_DIR}/tools/make_manual VERBATIM)
  find_program(AACO_GZIP gzip REQUIRED)
  add_custom_command(OUTPUT ${manual_dir}/aaco.1.gz COMMAND sh -c "\"$0\" -9nc \"$1\" >\"$2\"" ${AACO_GZIP} ${manual_dir}/aaco.1 ${manual_dir}/aaco.1.gz
    DEPENDS ${manual_dir}/aaco.1 VERBATIM)
  list(APPEND written ${manual_dir}/aaco.1 ${manual_dir}/aaco.1.gz)
  install(FILES ${manual_dir}/aaco.1.gz DESTINATION share/man/man1 COMPONENT program)
endif()
add_custom_target(aaco_manual ALL DEPENDS ${written})
install(FILES ${manual_dir}/aaco.bash DESTINATION share/bash-completion/completions RENAME aaco COMPONENT program)
install(FILES ${manual_dir}/aaco.zsh DESTINATION share/zsh/vendor-completions RENAME _aaco COMPONENT program)
install(FILES ${manual_dir}/aaco.fish DESTINATION share/fish/vendor_completions.d COMPONENT program)
