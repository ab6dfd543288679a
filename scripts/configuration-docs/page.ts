/** docs/configuration.md: every setting of the programs, from their zod schemas. */
import { resolve } from 'node:path'
import { commonSettings, credentialSettings } from '@backstop/kit/service'
import type { z } from 'zod'
import { networkPolicySettings, provisionSettings } from '../../packages/provision/src/config.ts'
import { settings as adminSettings } from '../../services/admin-api/src/config.ts'
import { settings as ingressSettings } from '../../services/ingress/src/config.ts'
import { settings as notifierSettings } from '../../services/notifier/src/config.ts'
import { settings as reconcilerSettings } from '../../services/reconciler/src/config.ts'
import { describeSetting, type SettingFacts } from './describe-setting.ts'

export const PAGE = resolve(import.meta.dirname, '../../docs/configuration.md')

type Settings = Readonly<Record<string, z.ZodType>>

/** The four services and the two jobs of a deployment. */
export const PROGRAMS = {
  ingress: ingressSettings,
  reconciler: reconcilerSettings,
  notifier: notifierSettings,
  'admin-api': adminSettings,
  'deploy job': provisionSettings,
  'network-policy check': networkPolicySettings,
} as const satisfies Record<string, Settings>

interface Row extends SettingFacts {
  readonly name: string
  readonly programs: string[]
}

/** One row for each setting, and more if the programs have different defaults for it. */
function rowsOf(): Row[] {
  const rows = new Map<string, Row>()
  for (const [program, settings] of Object.entries<Settings>(PROGRAMS)) {
    for (const [name, schema] of Object.entries(settings)) {
      const facts = describeSetting(name, schema)
      const key = JSON.stringify([name, facts.defaultText, facts.range, facts.meaning])
      const row = rows.get(key) ?? { ...facts, name, programs: [] }
      row.programs.push(program)
      rows.set(key, row)
    }
  }
  return [...rows.values()]
}

const SECTIONS: readonly { readonly title: string; readonly has: (row: Row) => boolean }[] = [
  { title: 'Every service', has: ({ name }) => name in commonSettings && !(name in credentialSettings) },
  { title: 'TLS and logins', has: ({ name }) => name in credentialSettings },
  {
    title: 'Several services',
    has: ({ name, programs }) => !(name in commonSettings) && programs.length > 1,
  },
  ...Object.keys(PROGRAMS).map(program => ({
    title: program.replace(/^./, first => first.toUpperCase()),
    has: ({ name, programs }: Row) => !(name in commonSettings) && programs.length === 1 && programs[0] === program,
  })),
]

const INTRODUCTION = `# Configuration

<!-- Written by npm run configuration-docs from the code. Do not edit. -->

For operators: every setting of the programs. \`npm run configuration-docs\` writes this page from the code, and a test compares it.

- Settings are environment variables. Every setting may also be a mounted file: \`NAME_FILE\` is the path of a file with the value of
  \`NAME\`. Use files for secrets.
- All settings are read once, when the program starts. Wrong settings end it with exit code 78 and one line for each of them. The credentials of Kafka,
  MongoDB and the registry are read from their files again for each new connection ([rotation.md](rotation.md)).
- An empty value counts as not set.
- \`required\` in the column *default*: the program does not start without it. \`–\`: not set by default.
- **On Kubernetes** every setting may be a line of the \`settings.env\` of your overlay, and reaches each program that reads it. New pods stay in \`Init\`, and
  their log says why, if a line names no setting, or one that is set elsewhere: \`HOST\`, \`PORT\`, \`OPS_PORT\` and \`BACKSTOP_REVISION\` by the image,
  \`NETWORK_POLICY_TARGETS\` in a patch of its job, and each secret that is a mounted file.
- **With Compose** every setting may be a line of \`.env\`, except those that \`docker-compose.yml\` sets for its own containers: \`HOST\`, \`PORT\`, \`OPS_PORT\`,
  \`BACKSTOP_REVISION\`, \`SMTP_REQUIRE_TLS\`, and addresses and credentials of its Kafka, MongoDB and registry. Each secret is a file in the folder \`secrets\`
  instead, with the name of the setting. Compose ignores other lines.
- In both, the limits that ingress and admin-api have with different defaults have a prefix: \`INGRESS_MAX_SOCKETS\`, \`INGRESS_MAX_SOCKETS_PER_ADDRESS\`,
  \`INGRESS_BODIES_MAX_BYTES\`, the same with \`ADMIN_\`, \`ADMIN_RATE_LIMIT_PER_KEY\` and \`ADMIN_RATE_LIMIT_PER_ADDRESS\`.
- \`services/<service>/.env.example\` is a file with the settings of one service, to copy. \`npm start\` sets everything itself.
`

/** @returns the text of docs/configuration.md */
export function configurationPage(): string {
  const rows = rowsOf()
  const sections = SECTIONS.map(({ title, has }) => `\n## ${title}\n\n${tableOf(rows.filter(has))}`)
  return INTRODUCTION + sections.join('')
}

function tableOf(rows: readonly Row[]): string {
  const columns = { setting: nameOf, meaning: meaningOf, default: defaultOf, 'unit and range': rangeOf }
  const shared = rows.some(({ programs }) => programs.length > 1)
  const shown = Object.entries<(row: Row) => string>(shared ? { ...columns, 'read by': readersOf } : columns)
  const lines = [
    shown.map(([title]) => title),
    shown.map(() => '---'),
    ...rows.map(row => shown.map(([, of]) => of(row))),
  ]
  return lines.map(cells => `| ${cells.join(' | ')} |\n`).join('')
}

const nameOf = ({ name }: Row) => `\`${name}\``

function meaningOf({ meaning, isSecret }: Row): string {
  const text = meaning.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('*', '\\*')
  return isSecret ? `**Secret.** ${text}` : text
}

function defaultOf({ defaultText, isRequired }: Row): string {
  if (defaultText !== undefined) return `\`${defaultText}\``
  return isRequired ? 'required' : '–'
}

function rangeOf({ unit, range }: Row): string {
  const text = range === undefined ? '' : `${inDigits(range.minimum)} to ${inDigits(range.maximum)}`
  return unit === '' ? text : `${text} ${unit}`.trim()
}

const inDigits = (value: number) => value.toLocaleString('en')

const SERVICES = ['ingress', 'reconciler', 'notifier', 'admin-api']

function readersOf({ programs }: Row): string {
  if (!SERVICES.every(service => programs.includes(service))) return programs.join(', ')
  return ['every service', ...programs.filter(program => !SERVICES.includes(program))].join(', ')
}
