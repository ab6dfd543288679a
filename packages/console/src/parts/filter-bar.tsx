import { Button, Menu, Select, TextInput } from '@mantine/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import classes from './filter-bar.module.css'

/** The filters of a list in one line above it. */
export function FilterBar({ children, end }: { children: ReactNode; end?: ReactNode }) {
  return (
    <search className={classes.bar}>
      {children}
      {end !== undefined && <div className={classes.end}>{end}</div>}
    </search>
  )
}

interface ChoiceProps<V extends string> {
  /** For example `State`. */
  label: string
  value: V | undefined
  options: readonly { value: V; label: string }[]
  /** Undefined removes the filter. */
  onChange: (value: V | undefined) => void
}

/** A filter with a few values, as a menu: `State: Open`. */
export function ChoiceFilter<V extends string>({ label, value, options, onChange }: ChoiceProps<V>) {
  const chosen = options.find(option => option.value === value)
  return (
    <Menu>
      <Menu.Target>
        <Button variant="default" className={classes.choice} data-is-set={chosen !== undefined || undefined}>
          {chosen === undefined ? label : `${label}: ${chosen.label}`}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onChange(undefined)}>Any</Menu.Item>
        <Menu.Divider />
        {options.map(option => (
          <Menu.Item
            key={option.value}
            onClick={() => onChange(option.value)}
            aria-current={option.value === value || undefined}
          >
            {option.label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** The options of a choice between things that have ids and names. */
export function optionsOf(names: ReadonlyMap<string, string>): { value: string; label: string }[] {
  return [...names].map(([value, label]) => ({ value, label }))
}

interface SearchChoiceProps {
  label: string
  value: string | undefined
  options: readonly { value: string; label: string }[]
  onChange: (value: string | undefined) => void
}

/** A filter with many values, in which one can type. */
export function SearchChoiceFilter({ label, value, options, onChange }: SearchChoiceProps) {
  return (
    <Select
      aria-label={label}
      placeholder={label}
      size="xs"
      className={classes.select}
      searchable
      clearable
      allowDeselect
      data={options}
      value={value ?? null}
      onChange={chosen => onChange(chosen ?? undefined)}
    />
  )
}

const TYPING_PAUSE_MS = 250

/** A filter with free text, which is applied after a pause of typing. */
export function TextFilter({
  label,
  value,
  onChange,
}: {
  label: string
  value: string | undefined
  onChange: (value: string | undefined) => void
}) {
  const [text, setText] = useState(value ?? '')
  // A page that is shown again meanwhile, with another function, does not begin the pause again.
  const latest = useRef(onChange)
  latest.current = onChange
  useEffect(() => setText(value ?? ''), [value])
  useEffect(() => {
    if (text === (value ?? '')) return
    const timer = setTimeout(() => latest.current(text === '' ? undefined : text), TYPING_PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text, value])
  return (
    <TextInput
      aria-label={label}
      placeholder={label}
      size="xs"
      className={classes.text}
      value={text}
      onChange={event => setText(event.currentTarget.value)}
    />
  )
}
