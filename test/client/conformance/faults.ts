import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { SeededBug } from '../../simulation/seeded-bugs/seeded-bugs.ts'

export interface PlantedFault extends Omit<SeededBug, 'breaks'> {
  /** A part of the name of the case that must notice it. */
  readonly case: string
}

/** @param file in this folder */
export function readFaults(file: string): PlantedFault[] {
  return parse(readFileSync(join(import.meta.dirname, file), 'utf8'))
}
