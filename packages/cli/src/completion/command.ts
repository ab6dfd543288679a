import { Argument, type Command } from 'commander'
import type { Surroundings } from '../surroundings.ts'
import { completionScript, SHELLS, type Shell } from './completion-script.ts'

/** `backstop completion` */
export function addCompletion(program: Command, surroundings: Surroundings): void {
  program
    .command('completion')
    .description('Print a script that completes commands and options in a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', '\nExample:\n  source <(backstop completion bash)\n  backstop completion fish | source')
    .action((shell: Shell) => surroundings.out(completionScript(shell, wordsOf(program))))
}

/** The words that may follow each command, by the command's path: '' is `backstop` itself. */
export function wordsOf(command: Command, path = ''): ReadonlyMap<string, readonly string[]> {
  const words = [
    ...command.commands.map(child => child.name()),
    ...command.options.flatMap(({ long }) => (long === undefined || long === null ? [] : [long])),
    '--help',
  ]
  const below = command.commands.flatMap(child => [...wordsOf(child, `${path} ${child.name()}`.trim())])
  return new Map([[path, words], ...below])
}
