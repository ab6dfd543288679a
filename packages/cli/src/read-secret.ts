import { CommandFault } from './fault.ts'
import type { Surroundings } from './surroundings.ts'

/** Reads a secret. Arguments are visible to other users of the machine, so secrets are read from standard input. */
export async function readSecret(question: string, { readInput }: Pick<Surroundings, 'readInput'>): Promise<string> {
  const secret = (await readInput(question, 'hidden')).trim()
  if (secret !== '') return secret
  throw new CommandFault('misused', 'Give the secret on standard input')
}
