//! The cap of a guarantee: local differential privacy, whatever the prior is. One ratio of each output proves it.

use crate::json::Value;
use crate::{check, is_space, Error};
use std::cmp::Ordering;

const MOST_SIGNS: usize = 2_000;
const MOST_POWER: i32 = 400;
const LIMBS: usize = 8; // of 32 bits, after the point

/// Check the cap of a guarantee that has one; what else it promises is left to `mechdesign verify`.
pub fn check_cap(guarantee: &Value, is_second: bool, rows: &[Vec<u64>]) -> Result<(), Error> {
    let given = |key| guarantee.get(key).filter(|value| **value != Value::Null);
    let Some(cap) = given("cap") else { return Ok(()) };
    check(
        is_second && given("lower").is_none(),
        "it has a cap in the first schema, or beside lower",
    )?;
    let power = cap.text().and_then(power_of);
    let (above, below) =
        power.ok_or_else(|| Error::Input("its cap is not text of a number from 0 to 700, or of log(9/8)".into()))?;
    for k in 0..rows[0].len() {
        let column = || rows.iter().map(|row| row[k]);
        let greatest = Natural::of(column().max().unwrap_or(0));
        let least = Natural::of(column().min().unwrap_or(0));
        check(
            greatest.times(&below).cmp(&least.times(&above)) != Ordering::Greater,
            "its cap is false: an output is likelier, given one input, than the cap allows given another",
        )?;
    }
    Ok(())
}

/// Two numbers whose ratio is at most exp(cap); None for what is no cap.
fn power_of(cap: &str) -> Option<(Natural, Natural)> {
    if cap.chars().count() > MOST_SIGNS {
        return None;
    }
    let cap = cap.trim_matches(is_space);
    if let Some(inner) = cap.strip_prefix("log(").and_then(|rest| rest.strip_suffix(')')) {
        let (above, below) = rational(inner.trim_matches(is_space))?;
        let most = below.times(&Natural::decimal(&format!("1{}", "0".repeat(304))));
        let is_level = above.cmp(&below) != Ordering::Less && above.cmp(&most) != Ordering::Greater;
        return is_level.then_some((above, below));
    }
    let (above, below) = rational(cap)?;
    let is_level = above.cmp(&below.times(&Natural::of(700))) != Ordering::Greater;
    is_level.then(|| (exp_down(&above, &below), Natural::one()))
}

/// A number below e^(a/b) = 1 + x/1 (1 + x/2 (1 + ...)), with LIMBS after the point: each step is rounded down.
fn exp_down(a: &Natural, b: &Natural) -> Natural {
    let whole = a.over(b).0.first().copied().unwrap_or(0);
    let mut total = Natural::one();
    for k in (1..=3 * whole + 200).rev() {
        let next = total.times(a).over(&b.times(&Natural::of(k.into())));
        total = Natural::one().plus(&next);
    }
    total
}

/// Two numbers whose ratio a text states: 9/8, or a decimal, such as 1e-9. None for other texts and negative numbers.
fn rational(text: &str) -> Option<(Natural, Natural)> {
    let is_negative = text.starts_with('-');
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let are_digits = |part: &str| part.bytes().all(|sign| sign.is_ascii_digit());
    let (above, below) = if let Some((above, below)) = text.split_once('/') {
        if above.is_empty() || below.is_empty() || !are_digits(above) || !are_digits(below) {
            return None;
        }
        (Natural::decimal(above), Natural::decimal(below))
    } else {
        let (digits, power) = match text.split_once(['e', 'E']) {
            Some((digits, power)) => (digits, exponent(power)?),
            None => (text, 0),
        };
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.len() + part.len() == 0 || !are_digits(whole) || !are_digits(part) {
            return None;
        }
        let scale = power - part.len() as i32;
        let zeros = "0".repeat(scale.unsigned_abs() as usize);
        let above = format!("{whole}{part}{}", if scale > 0 { &zeros } else { "" });
        let below = format!("1{}", if scale < 0 { &zeros } else { "" });
        (Natural::decimal(&above), Natural::decimal(&below))
    };
    let is_number = !below.is_zero() && (above.is_zero() || !is_negative);
    is_number.then_some((above, below))
}

/// The exponent of a decimal: one to four digits, perhaps with a sign.
fn exponent(text: &str) -> Option<i32> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_short = (1..=4).contains(&digits.len()) && digits.bytes().all(|sign| sign.is_ascii_digit());
    let power: i32 = text.parse().ok()?;
    (is_short && power.abs() <= MOST_POWER).then_some(power)
}

/// A whole number of any size, in limbs of 32 bits, the lowest first; the last limb is not zero.
struct Natural(Vec<u32>);

impl Natural {
    fn of(value: u64) -> Natural {
        Natural(vec![value as u32, (value >> 32) as u32]).trimmed()
    }

    /// One, as a number with LIMBS after the point.
    fn one() -> Natural {
        let mut limbs = vec![0; LIMBS];
        limbs.push(1);
        Natural(limbs)
    }

    fn decimal(digits: &str) -> Natural {
        let mut limbs: Vec<u32> = Vec::new();
        for digit in digits.bytes() {
            let mut carry = u64::from(digit - b'0');
            for limb in &mut limbs {
                carry += 10 * u64::from(*limb);
                *limb = carry as u32;
                carry >>= 32;
            }
            limbs.push(carry as u32);
            if carry == 0 {
                limbs.pop();
            }
        }
        Natural(limbs)
    }

    fn trimmed(mut self) -> Natural {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }

    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn cmp(&self, other: &Natural) -> Ordering {
        let sizes = self.0.len().cmp(&other.0.len());
        sizes.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }

    fn plus(&self, other: &Natural) -> Natural {
        let size = self.0.len().max(other.0.len()) + 1;
        let mut carry = 0;
        let limb = |number: &Natural, i: usize| u64::from(number.0.get(i).copied().unwrap_or(0));
        let sum = (0..size).map(|i| {
            carry += limb(self, i) + limb(other, i);
            let low = carry as u32;
            carry >>= 32;
            low
        });
        Natural(sum.collect()).trimmed()
    }

    fn times(&self, other: &Natural) -> Natural {
        let mut limbs = vec![0; self.0.len() + other.0.len()];
        for (i, &a) in self.0.iter().enumerate() {
            let mut carry = 0;
            for (j, &b) in other.0.iter().enumerate() {
                carry += u64::from(limbs[i + j]) + u64::from(a) * u64::from(b);
                limbs[i + j] = carry as u32;
                carry >>= 32;
            }
            limbs[i + other.0.len()] = carry as u32;
        }
        Natural(limbs).trimmed()
    }

    /// The whole part of a ratio, by long division: bit by bit, from the highest on.
    fn over(&self, divisor: &Natural) -> Natural {
        let left = self.0.len().saturating_sub(divisor.0.len() - 1);
        let mut rest = Natural(self.0[left..].to_vec()); // it has fewer limbs than the divisor
        let mut limbs = vec![0; left];
        for (limb, next) in limbs.iter_mut().zip(&self.0[..left]).rev() {
            for bit in (0..32).rev() {
                rest.double_and_add(next >> bit & 1);
                *limb = *limb << 1 | u32::from(rest.take(divisor));
            }
        }
        Natural(limbs).trimmed()
    }

    fn double_and_add(&mut self, mut carry: u32) {
        for limb in &mut self.0 {
            let top = *limb >> 31;
            *limb = *limb << 1 | carry;
            carry = top;
        }
        if carry > 0 {
            self.0.push(carry);
        }
    }

    /// Subtract another number unless it is greater, and tell whether it was subtracted.
    fn take(&mut self, other: &Natural) -> bool {
        let fits = self.cmp(other) != Ordering::Less;
        let mut borrow = false;
        for (i, limb) in self.0.iter_mut().enumerate().filter(|_| fits) {
            let (low, first) = limb.overflowing_sub(other.0.get(i).copied().unwrap_or(0));
            let (low, second) = low.overflowing_sub(borrow.into());
            (*limb, borrow) = (low, first || second);
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        fits
    }
}
