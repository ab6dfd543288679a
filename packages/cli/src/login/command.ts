import { createClient } from '@backstop/client'
import type { Command } from 'commander'
import { addCommand, type Printed } from '../define-command.ts'
import { CommandFault } from '../exit-code.ts'
import { removeLogin, storeLogin } from '../stored-login.ts'
import type { Surroundings } from '../surroundings.ts'

/** `backstop login`, `backstop logout` */
export function addLogin(program: Command, surroundings: Surroundings): void {
  addCommand(program, surroundings, {
    usage: 'login <url>',
    summary: 'Store the address and API key of a Backstop for this user. The key is read from standard input.',
    examples: ['backstop login https://backstop.example.com < key.txt'],
    run: ({ environment, readInput }, _, url) => login(url, { environment, readInput }),
  })
  addCommand(program, surroundings, {
    usage: 'logout',
    summary: 'Remove the stored address and API key.',
    examples: ['backstop logout'],
    async run({ environment }) {
      removeLogin(environment)
      return { item: {}, text: 'Logged out. The key is still valid; backstop keys revoke ends it\n' }
    },
  })
}

async function login(
  url: string,
  { environment, readInput }: Pick<Surroundings, 'environment' | 'readInput'>,
): Promise<Printed> {
  if (!/^https?:\/\//.test(url)) {
    throw new CommandFault('misused', `${url} is not a URL`, 'Give it whole, e.g. https://backstop.example.com')
  }
  const key = (await readInput('API key: ', 'hidden')).trim()
  if (!key.startsWith('bsk_')) {
    throw new CommandFault('misused', 'Standard input has no API key, which begins with bsk_')
  }
  const baseUrl = url.replace(/\/+$/, '')
  await createClient({ baseUrl, key, retries: 1, timeoutMs: 15_000 }).projects.list({ limit: 1 })
  const path = storeLogin(environment, { url: baseUrl, key })
  return { item: { url: baseUrl, file: path }, text: `Logged in to ${baseUrl}. The key is stored in ${path}\n` }
}
