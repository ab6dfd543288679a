/** Checks objects against the schemas of Kubernetes. Unknown fields are errors. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { ensureSchemas } from './kubernetes-tools.ts'
import { type Manifest, nameOf } from './rendered.ts'

/** Creates a check that returns one line per error. @param minor of the version of Kubernetes, e.g. 34 */
export async function schemaChecker(minor: number): Promise<(manifest: Manifest) => string[]> {
  const folder = await ensureSchemas(minor)
  const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as object
  // Not strict, because the schemas contain keywords and formats that only Kubernetes knows.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  ajv.addSchema(read('_definitions.json'), '/api/_definitions.json')
  const compiled = new Map<string, ValidateFunction | undefined>()
  const validatorOf = (name: string) => {
    if (!compiled.has(name)) {
      compiled.set(name, existsSync(join(folder, name)) ? ajv.compile(read(name)) : undefined)
    }
    return compiled.get(name)
  }
  return manifest => {
    const validate = validatorOf(schemaName(manifest))
    if (validate === undefined) return [`${nameOf(manifest)}: Kubernetes 1.${minor} has no ${manifest.apiVersion}`]
    if (validate(manifest)) return []
    return errorLines(manifest, validate.errors)
  }
}

/** Creates a check of the objects of operators, by the schemas in custom-resources/. One line per error. */
export function customResourceChecker(): (manifest: Manifest) => string[] {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  const folder = new URL('custom-resources/', import.meta.url)
  return manifest => {
    const [group, version] = manifest.apiVersion.split('/')
    const file = `${manifest.kind}.${group}.${version}.json`.toLowerCase()
    if (!existsSync(new URL(file, folder))) return [`${nameOf(manifest)}: there is no schema of ${manifest.apiVersion}`]
    if (ajv.getSchema(file) === undefined) ajv.addSchema(JSON.parse(readFileSync(new URL(file, folder), 'utf8')), file)
    return ajv.validate(file, manifest) ? [] : errorLines(manifest, ajv.errors)
  }
}

function errorLines(manifest: Manifest, errors: readonly ErrorObject[] | null | undefined): string[] {
  return (errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${nameOf(manifest)}${instancePath}: ${message} ${params.additionalProperty ?? ''}`,
  )
}

/** The file name of the schema of an object, e.g. deployment-apps-v1.json for a Deployment of apps/v1. */
function schemaName({ apiVersion, kind }: Manifest): string {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : [undefined, apiVersion]
  return `${[kind, group?.split('.')[0], version].filter(Boolean).join('-').toLowerCase()}.json`
}
