import { escapeHtml } from '../escape-html.ts'

/** Values for a template. A list repeats its block once per item; null and '' are treated as absent. */
export interface TemplateValues {
  readonly [name: string]: string | null | readonly Readonly<Record<string, string>>[]
}

const BLOCK = /\{\{([#^])(\w+)\}\}([\s\S]*?)\{\{\/\2\}\}/g
const VALUE = /\{\{(\w+)\}\}/g

/**
 * Replaces `{{name}}` with the escaped value. `{{#name}}…{{/name}}` appears if the value is present, for a list once
 * per item; `{{^name}}…{{/name}}` appears if the value is absent. Values are inserted last and in one pass, so the
 * content of a value is never interpreted as a template.
 * @throws Error if the template contains a name without a value
 */
export function fillTemplate(template: string, values: TemplateValues): string {
  const lookUp = (name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`The template names ${name}, which has no value`)
    return value
  }
  const parts: string[] = []
  let at = 0
  for (const block of template.matchAll(BLOCK)) {
    const [whole, sign, name = '', inner = ''] = block
    parts.push(fillText(template.slice(at, block.index), lookUp))
    at = block.index + whole.length
    const value = lookUp(name)
    const isPresent = value !== null && value.length > 0
    if (sign === '^') parts.push(isPresent ? '' : fillTemplate(inner, values))
    else if (!isPresent) continue
    else if (typeof value === 'string') parts.push(fillTemplate(inner, values))
    else for (const item of value) parts.push(fillTemplate(inner, { ...values, ...item }))
  }
  parts.push(fillText(template.slice(at), lookUp))
  return parts.join('')
}

function fillText(text: string, lookUp: (name: string) => TemplateValues[string]): string {
  return text.replace(VALUE, (_, name: string) => {
    const value = lookUp(name)
    return typeof value === 'string' ? escapeHtml(value) : ''
  })
}
