import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { SeededBug } from '../../../test/simulation/seeded-bugs/seeded-bugs.ts'

export interface PlantedFault extends Omit<SeededBug, 'breaks'> {
  /** A part of the name of the case that must notice it. */
  readonly case: string
}

/** The faults of a file, e.g. faults.yaml. */
export function readFaults(path: string): PlantedFault[] {
  return parse(readFileSync(path, 'utf8'))
}
