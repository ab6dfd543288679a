import { type ParseArgsConfig, parseArgs } from 'node:util'
import { CommandFault } from './fault.ts'

type Options = NonNullable<ParseArgsConfig['options']>

/**
 * Reads a command's arguments.
 * @throws CommandFault for unknown options
 */
export function readArguments<const T extends Options>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new CommandFault('misused', describeFault(error as Error, options), 'backstop help  shows the usage')
  }
}

/** A short message in place of Node's message, which suggests other meanings of the option. */
function describeFault(error: Error, options: Options): string {
  const option = /'(-[^\s'=]+)/.exec(error.message)?.[1]
  if (option === undefined) return error.message
  const known = options[option.replace(/^-+/, '')]
  if (known === undefined) return `There is no option ${option}`
  return known.type === 'boolean' ? `${option} takes no value` : `${option} needs a value`
}
