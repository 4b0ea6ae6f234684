# Manual pages and shell completion, written by the program itself and by tools/make_manual from its --help.
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
  # A page per verb: which there are, only the program knows.
  set(pages_dir ${manual_dir}/man1)
  add_custom_command(OUTPUT ${pages_dir}/aaco.1.gz
    COMMAND ${AACO_PYTHON} ${PROJECT_SOURCE_DIR}/tools/make_manual $<TARGET_FILE:aaco> ${pages_dir}
    DEPENDS aaco ${PROJECT_SOURCE_DIR}/tools/make_manual ${PROJECT_SOURCE_DIR}/tools/command_help.py VERBATIM)
  list(APPEND written ${pages_dir}/aaco.1.gz)
  install(DIRECTORY ${pages_dir}/ DESTINATION share/man/man1 COMPONENT program PATTERN aaco-agent.1.gz EXCLUDE)
  install(FILES ${pages_dir}/aaco-agent.1.gz DESTINATION share/man/man1 COMPONENT agent)
endif()
add_custom_target(aaco_manual ALL DEPENDS ${written})
install(FILES ${manual_dir}/aaco.bash DESTINATION share/bash-completion/completions RENAME aaco COMPONENT program)
install(FILES ${manual_dir}/aaco.zsh DESTINATION share/zsh/vendor-completions RENAME _aaco COMPONENT program)
install(FILES ${manual_dir}/aaco.fish DESTINATION share/fish/vendor_completions.d COMPONENT program)
