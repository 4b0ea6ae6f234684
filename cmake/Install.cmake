include(GNUInstallDirs)

# What a user runs: the program and its page, without tests. scripts/run_demo.sh builds just this.
add_custom_target(aaco_product)
foreach(part aaco aaco_page)
  if(TARGET ${part})
    add_dependencies(aaco_product ${part})
  endif()
endforeach()
