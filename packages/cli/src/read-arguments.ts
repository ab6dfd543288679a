import { type ParseArgsConfig, parseArgs } from 'node:util'
import { CommandFault } from './fault.ts'

/**
 * Reads a command's arguments.
 * @throws CommandFault for what the command does not know
 */
export function readArguments<const T extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: T,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new CommandFault('misused', (error as Error).message, 'backstop help  shows how it is called')
  }
}
