"""From a test plan of JMeter: its thread groups as a k6 script, with a list of what was left out and why.

plan_xml → plan_tree → texts, conditions, samplers, checks → walk → jmeter_script → imported
"""
