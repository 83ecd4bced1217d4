#![allow(named_asm_labels)] // the mark is how the test finds the place
mod deep {
    pub struct Thing(pub i32);
    impl Thing {
        #[inline(never)]
        pub fn work(&self, x: i32) -> i32 {
            unsafe { std::arch::asm!(".globl mark_rust", "mark_rust: nop") }; // LINE mark_rust
            x + self.0
        }
    }
}

fn main() {
    let n = std::env::args().count() as i32;
    std::process::exit(deep::Thing(n).work(n) & 1);
}
