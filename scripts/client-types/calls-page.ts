import { resolve } from 'node:path'
import { startMemoryApi } from '../../services/admin-api/test/test-api.ts'

export const CALLS_PAGE = resolve(import.meta.dirname, '../../docs/api-calls.md')

const INTRODUCTION = `# Calls of the management API

For programmers: every call, with its scope (\`signed_in\`: any key or session). Written by \`npm run client-types\` from the routes. [api.md](api.md) has the rules, \`GET /v1/openapi.json\` every field.`

/** @returns the text of docs/api-calls.md: every call with its scope and what it does, by the tags of the OpenAPI document */
export async function callsPage(): Promise<string> {
  const { app, stop } = await startMemoryApi()
  try {
    const byTag = Map.groupBy(app.routes, ({ tag }) => tag)
    const sections = [...byTag].map(([tag, routes]) => {
      const rows = routes.map(({ method, path, scope, summary }) => {
        const needed = scope === 'public' ? 'none' : `\`${scope}\``
        return `| \`${method.toUpperCase()} ${path}\` | ${needed} | ${summary} |`
      })
      return [`## ${tag}`, ['| call | scope | |', '|---|---|---|', ...rows].join('\n')].join('\n\n')
    })
    return `${[INTRODUCTION, ...sections].join('\n\n')}\n`
  } finally {
    await stop()
  }
}
