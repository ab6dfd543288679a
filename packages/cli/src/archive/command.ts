import { readFileSync } from 'node:fs'
import files from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { showableText } from '@backstop/contracts'
import { type Command, InvalidArgumentError } from 'commander'
import { addCommand, addGroup, type Context, given, type Printed } from '../define-command.ts'
import { CommandFault } from '../exit-code.ts'
import { explanationOf } from '../explain/explanation.ts'
import { counted } from '../output/rules/counted.ts'
import { chooseProject } from '../projects/choose-project.ts'
import type { Surroundings } from '../surroundings.ts'
import { findArchived } from './find-archived.ts'
import { verifyArchive } from './verify-archive.ts'
import { writeArchive } from './write-archive.ts'

interface WriteOptions {
  readonly project?: string
  readonly before?: string
}

interface VerifyOptions {
  readonly publicKey?: string
}

interface ShowOptions {
  readonly action?: string
  readonly subject?: string
  readonly providerRef?: string
}

/** `backstop archive …` */
export function addArchive(program: Command, surroundings: Surroundings): void {
  const archive = addGroup(program, 'archive', 'Move old explained actions into files, and read these')
  addCommand(archive, surroundings, {
    usage: 'write <directory>',
    summary: 'Move the explained actions of a project that are older than ARCHIVE_AFTER_DAYS into files.',
    examples: ['backstop archive write /srv/archive --before 2025-01'],
    options: [
      ['--project <id>', 'the project, if there are several'],
      ['--before <month>', 'only actions that were first recorded before this month', parseMonth],
    ],
    async run(context, { project, before }: WriteOptions, directory = '') {
      const projectId = await chooseProject(context, project)
      const { client, err } = context
      const request = { directory: resolve(context.folder, directory), projectId, before }
      const written = await writeArchive(request, { client, err, files, sleep })
      const { parts, actions, folder } = written
      return { item: written, text: `${counted(actions, 'action')} archived in ${counted(parts, 'part')}: ${folder}\n` }
    },
  })
  addCommand(archive, surroundings, {
    usage: 'verify <directory>',
    summary: 'Verify that each part is signed, unchanged and there.',
    examples: ['backstop archive verify /srv/archive --public-key audit.pem'],
    options: [['--public-key <file>', 'what `backstop audit public-key` printed; without it the API is asked']],
    run: (context, options: VerifyOptions, directory = '') => verify(context, options, directory),
  })
  addCommand(archive, surroundings, {
    usage: 'show <directory>',
    summary: 'Show archived actions as `backstop explain` does.',
    examples: ['backstop archive show /srv/archive --subject pi_0123'],
    options: [
      ['--action <id>', 'the action with this id'],
      ['--subject <id>', 'those of this payment or subscription'],
      ['--provider-ref <id>', "those with this provider's id"],
    ],
    async run({ folder }, { action, subject, providerRef }: ShowOptions, directory = '') {
      const filter = given({ action_id: action, subject, provider_ref: providerRef })
      if (Object.keys(filter).length === 0)
        throw new CommandFault('misused', 'Give --action, --subject or --provider-ref')
      const found = await findArchived(resolve(folder, directory), filter)
      if (found.length === 0) throw new CommandFault('not_found', 'No archived action has these ids')
      return { item: found, text: found.map(one => explanationOf(one, one.action_id)).join('\n') }
    },
  })
}

async function verify(context: Context, { publicKey }: VerifyOptions, directory: string): Promise<Printed> {
  const keys =
    publicKey === undefined
      ? (await context.client.audit.getPublicKeys()).keys.map(({ public_key }) => public_key).join('')
      : readFileSync(resolve(context.folder, publicKey), 'utf8')
  const item = await verifyArchive(resolve(context.folder, directory), keys)
  const { state, parts, actions, unfinished, faults } = item
  if (state === 'broken') {
    const remedy = 'Compare the archive with a copy, and the hashes with the rows archive.remove of the audit'
    const fault = new CommandFault('failed', `The archive is broken.\n${faults.map(showableText).join('\n')}`, remedy)
    return { item, text: '', fault }
  }
  const left = unfinished === 0 ? '' : `${counted(unfinished, 'part')} unfinished: run backstop archive write again\n`
  return { item, text: `${counted(parts, 'part')} with ${counted(actions, 'action')}: unchanged\n${left}` }
}

function parseMonth(text: string): string {
  if (/^\d{4}-(?:0[1-9]|1[0-2])$/.test(text)) return text
  throw new InvalidArgumentError('Give a month, such as 2025-01.')
}
