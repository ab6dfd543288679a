/** docs/rights.md, and the script that creates the roles at MongoDB, from packages/contracts/src/rights.ts. */
import {
  COLLECTIONS,
  type CollectionName,
  DOCTOR_RIGHTS,
  mongoRightsOf,
  type ProgramName,
  type ProgramRights,
  RIGHTS,
  TOPICS,
  type TopicName,
} from '@backstop/contracts'

export const ROLES_FILE = 'deploy/mongodb/create-roles.js'
const programs = Object.keys(RIGHTS) as ProgramName[]

/** The table of the rights, with what an operator does with it. */
export function rightsPage(): string {
  return `# Rights

For operators who give each program its own user at MongoDB and Kafka: the least rights with which it works. \`npm run manifests\` writes this page from
\`packages/contracts/src/rights.ts\`, and \`test/credentials/rights.system-test.ts\` runs the product with exactly these rights.

Each service compares the rights of its users with this page at its start and every minute, without any write. If one is missing, it is not ready, and
\`/readyz\`, its log and \`backstop_ready\` say which: \`MongoDB does not let the user reconciler run insert, update, remove on incidents: give it this right\`,
\`Kafka does not let the user notifier write alerts: give it this right\`. The reconciler and the notifier take no work until they have it, and end if they lose it. Nothing
needs a restart afterwards. Servers without access control are not asked further.

## MongoDB

**r**: \`find\`. **w**: \`find\`, \`insert\`, \`update\`, \`remove\`. **f**: \`find\` and \`changeStream\`. On all collections of the database each user needs \`listIndexes\`;
admin-api also \`find\` and \`changeStream\`, and \`dbStats\` for \`backstop doctor\`; the deploy job (provision) also \`find\`, \`createCollection\` and \`createIndex\`. The built-in role \`readWrite\` contains all of them.
\`backstop keys recover\`, \`backstop backup\` and \`duplicates-main.ts\` need \`readWrite\`.

    mongosh "MONGO_URL_OF_AN_ADMINISTRATOR" --eval 'globalThis.DATABASE = "backstop"' --file ${ROLES_FILE}

creates a role \`backstop-…\` in the database for each program, or updates it. Then create a user with each role:
\`db.getSiblingDB("admin").createUser({ user: "reconciler", pwd: passwordPrompt(), roles: [{ role: "backstop-reconciler", db: "backstop" }] })\`.

${table('collection', Object.keys(COLLECTIONS) as CollectionName[], collectionRight)}
## Kafka

**R**: Read. **W**: Write. Each user also needs Describe and DescribeConfigs on all topics; the deploy job also Create and Alter. The reconciler and the notifier need Read and Describe on the
consumer groups that begin with \`reconciler\` and \`notifier\`; admin-api Describe on both, for \`backstop doctor\`. With \`KAFKA_TOPIC_PREFIX\` all names begin with it. \`deploy/k8s/components/strimzi\` has these rights as objects of Strimzi.

${table('topic', Object.keys(TOPICS) as TopicName[], topicRight)}`
}

function table<Name extends string>(
  title: string,
  names: readonly Name[],
  rightOf: (program: ProgramName, name: Name) => string,
): string {
  const rows = names.map(name => [`\`${name}\``, ...programs.map(program => rightOf(program, name))])
  const lines = [[title, ...programs], [title, ...programs].map(() => '---'), ...rows]
  return lines.map(cells => `| ${cells.join(' | ')} |\n`).join('')
}

function collectionRight(program: ProgramName, name: CollectionName): string {
  const { reads, writes, follows = [] }: ProgramRights['mongo'] = RIGHTS[program].mongo
  if (writes.includes(name)) return 'w'
  if (reads === 'all' || follows.includes(name)) return 'f'
  return reads.includes(name) || 'provisions' in RIGHTS[program] ? 'r' : ''
}

function topicRight(program: ProgramName, name: TopicName): string {
  const { reads, writes }: ProgramRights['kafka'] = RIGHTS[program].kafka
  return `${reads.includes(name) ? 'R' : ''}${writes.includes(name) ? 'W' : ''}`
}

/** The script for mongosh that creates or updates the role of each program. */
export function rolesScript(): string {
  const roles = programs.map(program => {
    const ofDoctor = program === DOCTOR_RIGHTS.program ? DOCTOR_RIGHTS.mongo : []
    const privileges = [...mongoRightsOf(program), ...ofDoctor].map(
      ({ collection, actions }) => `    right(${[collection, ...actions].map(text => `'${text}'`).join(', ')}),\n`,
    )
    return `  'backstop-${program}': [\n${privileges.join('')}  ],\n`
  })
  return `// Written by \`npm run manifests\` from packages/contracts/src/rights.ts. docs/rights.md says how to call it.
const right = (collection, ...actions) => ({ resource: { db: DATABASE, collection }, actions })
const roles = {
${roles.join('')}}
for (const [role, privileges] of Object.entries(roles)) {
  const database = db.getSiblingDB(DATABASE)
  const command = database.getRole(role) === null ? 'createRole' : 'updateRole'
  database.runCommand({ [command]: role, privileges, roles: [] })
}
`
}
