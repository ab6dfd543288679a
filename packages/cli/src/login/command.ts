import { createClient } from '@backstop/client'
import type { Command } from 'commander'
import { addCommand } from '../add-command.ts'
import { CommandFault } from '../fault.ts'
import { type JsonOption, printItem } from '../output/print.ts'
import type { Surroundings } from '../surroundings.ts'
import { removeLogin, storeLogin } from './stored-login.ts'

/** `backstop login`, `backstop logout` */
export function addLogin(program: Command, surroundings: Surroundings): void {
  const { environment, out } = surroundings
  addCommand(
    program,
    'login <url>',
    'Store the address and API key of a Backstop for this user. The key is read from standard input.',
    'backstop login https://backstop.example.com < key.txt',
  ).action(async (url: string, options: JsonOption) => {
    if (!/^https?:\/\//.test(url)) {
      throw new CommandFault('misused', `${url} is not a URL`, 'Give it whole, e.g. https://backstop.example.com')
    }
    const key = (await surroundings.readInput('API key: ', 'hidden')).trim()
    if (!key.startsWith('bsk_')) {
      throw new CommandFault('misused', 'Standard input has no API key, which begins with bsk_')
    }
    const baseUrl = url.replace(/\/+$/, '')
    await createClient({ baseUrl, key, retries: 1, timeoutMs: 15_000 }).projects.list({ limit: 1 })
    const path = storeLogin(environment, { url: baseUrl, key })
    printItem({ url: baseUrl, file: path }, `Logged in to ${baseUrl}. The key is stored in ${path}\n`, options, { out })
  })
  addCommand(program, 'logout', 'Remove the stored address and API key.', 'backstop logout').action(
    (options: JsonOption) => {
      removeLogin(environment)
      printItem({}, 'Logged out. The key is still valid; backstop keys revoke ends it\n', options, { out })
    },
  )
}
