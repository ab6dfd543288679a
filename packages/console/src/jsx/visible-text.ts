import { showableLines } from '@backstop/contracts/showable-text'

/** The props that are shown as text. Values of fields are not among them: a person edits and copies them as they are. */
const SHOWN_PROPS = ['children', 'title', 'aria-label', 'label', 'description', 'placeholder'] as const

type Props = Readonly<Record<string, unknown>>

/**
 * The props of an element with the invisible characters of their texts replaced, e.g. with `<U+202E>`. Names, ids and reasons come from
 * other people: a character that turns the direction of text would let one of them rewrite the sentence around it.
 */
export function withVisibleText(props: unknown): unknown {
  if (typeof props !== 'object' || props === null) return props
  const given = props as Props
  const changed = SHOWN_PROPS.flatMap(name => {
    const visible = visibleIn(given[name])
    return visible === given[name] ? [] : [[name, visible] as const]
  })
  return changed.length === 0 ? props : { ...given, ...Object.fromEntries(changed) }
}

function visibleIn(node: unknown): unknown {
  if (typeof node === 'string') return showableLines(node)
  if (!Array.isArray(node)) return node
  const visible = node.map(visibleIn)
  // An unchanged list is passed on as it is, because React marks the lists that need no keys.
  return visible.every((one, at) => one === node[at]) ? node : visible
}
