import { Button, Menu, Popover, Select, Stack, TextInput } from '@mantine/core'
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

export interface Option<V extends string = string> {
  readonly value: V
  readonly label: string
}

/** The options of a choice between things that have ids and names. */
export function optionsOf(names: ReadonlyMap<string, string>): Option[] {
  return [...names].map(([value, label]) => ({ value, label }))
}

interface ControlProps<V extends string> {
  /** For example `State`. */
  label: string
  value: V | undefined
  /** Undefined removes the filter. */
  onChange: (value: V | undefined) => void
}
interface ChoiceProps<V extends string> extends ControlProps<V> {
  options: readonly Option<V>[]
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

/** A filter with many values, in which one can type. */
export function SearchChoiceFilter<V extends string>({ label, value, options, onChange }: ChoiceProps<V>) {
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
      onChange={chosen => onChange((chosen as V | null) ?? undefined)}
    />
  )
}

const TYPING_PAUSE_MS = 250

/** A filter with free text, which is applied after a pause of typing. */
export function TextFilter({ label, value, onChange }: ControlProps<string>) {
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

/** A filter with a day of the reader's zone, as `2026-11-23`. */
export function DayFilter({ label, value, onChange }: ControlProps<string>) {
  return (
    <TextInput
      type="date"
      size="xs"
      aria-label={label}
      leftSection={<span className="faint">{label}</span>}
      leftSectionWidth={48}
      value={value ?? ''}
      onChange={event => onChange(event.currentTarget.value || undefined)}
    />
  )
}

interface PopoverProps {
  /** The filter in words, for example `Amount: from EUR 10.00`. */
  label: string
  isSet: boolean
  /** The form of the filter. */
  children: (close: () => void) => ReactNode
}

/** A filter with a form that opens below its button. */
export function PopoverFilter({ label, isSet, children }: PopoverProps) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <Popover opened={isOpen} onChange={setIsOpen} position="bottom-start" trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="default"
          className={classes.choice}
          data-is-set={isSet || undefined}
          onClick={() => setIsOpen(open => !open)}
        >
          {label}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="sm" w={240}>
          {children(() => setIsOpen(false))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
