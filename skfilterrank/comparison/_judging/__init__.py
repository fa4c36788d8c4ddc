"""What judging less does to the order of systems, by selection and mitigation."""
